#include "agent/journal/state.hpp"

#include <algorithm>

namespace idletune::journal {

void State::for_each_measurement(const ShapeKey& key, const MeasurementVisitor& visit) const {
  visit_range<Measurement>(
      measurements_, {key.kernel, key.device, key.driver, key.shape, 0},
      [&](const TrialKey& other) { return other.shape_key() == key; }, visit);
}

void State::for_each_measurement(const MeasurementVisitor& visit) const {
  visit_all<Measurement>(measurements_, visit);
}

std::optional<Measurement> State::measurement(const TrialKey& key) const {
  return decode_entry<Measurement>(measurements_, key);
}

std::optional<std::chrono::nanoseconds> State::time_of(const Measurement& measurement,
                                                       std::chrono::nanoseconds untuned) const {
  const TrialStatus status = measurement.status;
  if (is_death(status) && !dangers_.is_quarantined(measurement.trial)) return std::nullopt;
  if (status != TrialStatus::correct) return std::chrono::nanoseconds{0};
  const auto then = static_cast<double>(measurement.default_time.count());
  if (then <= 0 || untuned.count() <= 0) return measurement.median;
  const double ns = static_cast<double>(measurement.median.count()) *
                    (static_cast<double>(untuned.count()) / then);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(ns, 9.0e18)));
}

void State::for_each_shape_of(const TrialKey& key, const MeasurementVisitor& visit) const {
  auto it = measurements_.entries().lower_bound({key.kernel, key.device, 0, 0, 0});
  for (; it != measurements_.entries().end(); ++it) {
    TrialKey there = key;
    there.shape = it->first.shape;
    if (it->first.kernel != key.kernel || it->first.device != key.device) return;
    Measurement value;
    if (it->first == there && decode(it->second.payload, value)) visit(value);
  }
}

std::size_t State::measurement_count(const ShapeKey& key) const {
  const auto group = groups_.find(key);
  return group == groups_.end() ? 0 : group->second.count;
}

std::optional<Adoption> State::adoption(const ShapeKey& key) const {
  auto adoption = decode_entry<Adoption>(adoptions_, adoption_key(key));
  if (!adoption) return std::nullopt;
  split_driver(adoption->trial, names_);
  if (dangers_.is_quarantined(adoption->trial)) return std::nullopt;
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
