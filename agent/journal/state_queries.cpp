#include "agent/journal/state.hpp"

namespace idletune::journal {
namespace {

// What another driver's quarantine means under `driver`.
Suspect suspect_of(const Quarantine& quarantine, std::uint64_t driver) {
  Suspect suspect;
  suspect.trial = quarantine.trial;
  suspect.key = quarantine.key;
  suspect.trial.driver = suspect.key.driver = driver;
  suspect.deaths = 1;
  suspect.cause = SuspicionCause::other_driver;
  suspect.detail = quarantine.detail;
  return suspect;
}

}  // namespace

bool State::is_quarantined(const TrialKey& plain) const {
  return quarantines_.find(danger_key(plain)) != nullptr;
}

std::optional<Quarantine> State::quarantine(const TrialKey& plain) const {
  return decode_entry<Quarantine>(quarantines_, danger_key(plain));
}

std::optional<Suspect> State::suspect(const TrialKey& plain) const {
  const TrialKey danger = danger_key(plain);
  if (std::optional<Suspect> own = decode_entry<Suspect>(suspects_, danger)) return own;
  std::optional<Suspect> suspect;
  TrialKey any_driver = danger;
  any_driver.driver = 0;
  visit_range<Quarantine>(
      quarantines_, any_driver, [&](const TrialKey& key) { return same_variant(key, danger); },
      [&](const Quarantine& quarantine) {
        if (quarantine.key.driver != plain.driver && quarantine.acquitted_by != plain.driver) {
          suspect = suspect_of(quarantine, plain.driver);
        }
      });
  return suspect;
}

void State::for_each_suspect_of(const Trial& trial, const Visitor<const Suspect&>& visit) const {
  const auto same_kernel = [&](const TrialKey& key) {
    return key.kernel == trial.kernel && key.device == trial.device;
  };
  const TrialKey first{trial.kernel, trial.device, 0, 0, 0};
  visit_range<Suspect>(suspects_, first, same_kernel, [&](const Suspect& suspect) {
    if (suspect.key.driver == trial.driver && !suspect.trial.configuration.empty()) visit(suspect);
  });
  visit_range<Quarantine>(quarantines_, first, same_kernel, [&](const Quarantine& quarantine) {
    TrialKey plain = quarantine.key;
    plain.driver = trial.driver;
    if (quarantine.trial.configuration.empty() || is_quarantined(plain) ||
        quarantine.key.driver == trial.driver || quarantine.acquitted_by == trial.driver ||
        suspects_.find(danger_key(plain)) != nullptr) {
      return;
    }
    visit(suspect_of(quarantine, trial.driver));
  });
}

void State::for_each_quarantine(const Visitor<const Quarantine&>& visit) const {
  visit_all<Quarantine>(quarantines_, visit);
}

void State::for_each_suspect(const Visitor<const Suspect&>& visit) const {
  visit_all<Suspect>(suspects_, visit);
}

bool State::is_wrong(const Trial& trial) const {
  return wrongs_.find(trial.plain_key()) != nullptr;
}

void State::for_each_wrong(std::uint64_t kernel, std::uint64_t device, std::uint64_t driver,
                           const Visitor<const Wrong&>& visit) const {
  visit_range<Wrong>(
      wrongs_, {kernel, device, 0, 0, 0},
      [&](const TrialKey& key) { return key.kernel == kernel && key.device == device; },
      [&](const Wrong& wrong) {
        if (wrong.trial.driver == driver) visit(wrong);
      });
}

const State::OpenTrial* State::open_trial(const TrialKey& key) const {
  for (const OpenTrial& open : open_) {
    if (open.key == key && !open.exposed) return &open;
  }
  return nullptr;
}

bool State::is_exposed(const TrialKey& key, Where place) const {
  for (const OpenTrial& open : open_) {
    if (open.exposed && open.key == key && open.place == place) return true;
  }
  return false;
}

void State::for_each_measurement(const ShapeKey& key, const MeasurementVisitor& visit) const {
  visit_range<Measurement>(
      measurements_, {key.kernel, key.device, key.driver, key.shape, 0},
      [&](const TrialKey& other) { return other.shape_key() == key; }, visit);
}

void State::for_each_measurement(const MeasurementVisitor& visit) const {
  visit_all<Measurement>(measurements_, visit);
}

void State::for_each_stale_measurement(const ShapeKey& key, const MeasurementVisitor& visit) const {
  const auto same_problem = [&](const TrialKey& other) {
    return other.kernel == key.kernel && other.device == key.device && other.shape == key.shape;
  };
  visit_range<Measurement>(measurements_, {key.kernel, key.device, 0, key.shape, 0}, same_problem,
                           [&](const Measurement& measurement) {
                             if (measurement.trial.driver != key.driver) visit(measurement);
                           });
}

std::optional<Measurement> State::measurement(const TrialKey& key) const {
  return decode_entry<Measurement>(measurements_, key);
}

void State::for_each_shape_of(const TrialKey& key, const MeasurementVisitor& visit) const {
  auto it = measurements_.entries().lower_bound({key.kernel, key.device, key.driver, 0, 0});
  for (; it != measurements_.entries().end(); ++it) {
    TrialKey same_shape = key;
    same_shape.shape = it->first.shape;
    same_shape.configuration = it->first.configuration;
    if (it->first != same_shape) return;
    Measurement value;
    if (it->first.configuration == key.configuration && decode(it->second.payload, value)) {
      visit(value);
    }
  }
}

std::size_t State::measurement_count(const ShapeKey& key) const {
  const auto group = groups_.find(key);
  return group == groups_.end() ? 0 : group->second.count;
}

std::optional<Adoption> State::adoption(const ShapeKey& key) const {
  auto adoption = decode_entry<Adoption>(adoptions_, adoption_key(key));
  if (!adoption) return std::nullopt;
  split_driver(adoption->trial);
  if (is_quarantined(adoption->trial)) return std::nullopt;
  return adoption;
}

std::optional<Adoption> State::stale_adoption(const ShapeKey& key) const {
  std::optional<Adoption> newest;
  std::uint64_t newest_serial = 0;
  for (auto it = adoptions_.entries().lower_bound({key.kernel, key.device, 0, key.shape, 0});
       it != adoptions_.entries().end(); ++it) {
    const TrialKey& other = it->first;
    if (other.kernel != key.kernel || other.device != key.device || other.shape != key.shape) break;
    Adoption adoption;
    if (other.driver == key.driver || it->second.serial < newest_serial) continue;
    if (!decode(it->second.payload, adoption)) continue;
    newest = adoption;
    newest_serial = it->second.serial;
  }
  return newest;
}

std::optional<Demotion> State::demotion(const TrialKey& key) const {
  return decode_entry<Demotion>(demotions_, key);
}

void State::for_each_demotion(const ShapeKey& key, const Visitor<const Demotion&>& visit) const {
  visit_range<Demotion>(
      demotions_, {key.kernel, key.device, key.driver, key.shape, 0},
      [&](const TrialKey& other) { return other.shape_key() == key; }, visit);
}

void State::for_each_adoption(const Visitor<const Adoption&>& visit) const {
  visit_all<Adoption>(adoptions_, visit);
}

std::optional<ShapeStatistics> State::shape_statistics(std::uint64_t kernel,
                                                       const Shape& shape) const {
  return decode_entry<ShapeStatistics>(statistics_, statistics_key(kernel, shape));
}

std::optional<Name> State::name(NameKind kind, std::uint64_t digest) const {
  return decode_entry<Name>(names_, name_key(kind, digest));
}

}  // namespace idletune::journal
