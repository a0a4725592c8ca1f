#include "agent/danger/facts.hpp"

#include <algorithm>
#include <array>

#include "models/core/digest.hpp"
#include "models/core/lists.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

constexpr std::size_t kMaxChecks = 4096;  // some 100 KiB

}  // namespace

journal::Trial FactSubject::trial(const Configuration& configuration, const Shape& shape) const {
  journal::Trial trial;
  trial.kernel = package.digest();
  trial.device = device.device_key();
  trial.driver = device.driver_key();
  trial.shape = shape;
  trial.configuration = configuration;
  return trial;
}

std::uint64_t Facts::key_of(const FactSubject& subject) {
  return subject.package.digest() ^ subject.device.device_key() ^ subject.device.driver_key();
}

void Facts::learn(const FactSubject& subject) {
  const journal::Trial any = subject.trial({}, {});
  journal_.state().dangers().for_each_wrong(
      any.kernel, any.device, any.driver, [&](const journal::Wrong& wrong) {
        const Configuration& values = wrong.trial.configuration;
        note(subject, values, subject.package.class_key(wrong.trial.shape, values), false);
      });
  journal_.state().for_each_measurement([&](const journal::Measurement& measurement) {
    const journal::Trial& trial = measurement.trial;
    if (measurement.status != TrialStatus::correct || measurement.checked_seeds < 2) return;
    if (trial.subject() != any.subject() || trial.kernel != any.kernel) return;
    note(subject, trial.configuration, subject.package.class_key(trial.shape, trial.configuration),
         true);
  });
}

// --- answers ---

// Of the patterns that speak of what only a launch tells nobody knows whether they apply: they do.
bool Facts::quirky(const FactSubject& subject, const Configuration& configuration) const {
  if (quirks_ == nullptr) return false;
  std::array<QuirkSubject::Value, kMaxParameters> values;
  for (std::size_t i = 0; i < configuration.size(); ++i) {
    values[i] = {subject.package.space().parameter_name(i), configuration[i]};
  }
  QuirkSubject asked{subject.package.name(), {values.data(), configuration.size()}};
  asked.unknown_holds = true;
  return !quirks_->match(subject.device, asked).empty();
}

const char* Facts::why_not(const FactSubject& subject, const Configuration& configuration,
                           const Shape& shape, Where where) const {
  if (configuration == subject.package.default_configuration()) return nullptr;
  const journal::Trial trial = subject.trial(configuration, shape);
  const journal::State& state = journal_.state();
  if (state.dangers().is_quarantined(trial)) return "quarantined";
  // What a helper is asked to run it compares with the patterns itself, launch figures included.
  if (where != Where::helper && quirky(subject, configuration)) return "in the quirk table";
  if (const auto suspect = state.dangers().suspect(trial)) {
    if (const char* why = why_not_suspect(*suspect, trial, where)) return why;
  }
  return state.dangers().is_wrong(trial) ? "wrong at this shape" : nullptr;
}

const char* Facts::why_not_suspect(const journal::Suspect& suspect, const journal::Trial& trial,
                                   Where where) const {
  if (suspect.crash_seen_in(journal_.state().session().number)) {
    return "it crashed or hung, and the reference has not run since";
  }
  bool died_here = !suspect.survived;
  const std::uint64_t shape = digest_of(trial.shape);
  for (const journal::Suspect::Place& place : suspect.at) {
    died_here = died_here || (place.shape == shape && place.place == Where::helper);
  }
  if (!died_here) return nullptr;
  const journal::TrialKey key = trial.plain_key();
  for (const Retry& retry : retries_) {
    const bool there = (where == Where::helper) == (retry.where == Where::helper);
    if (there && retry.open && retry.key == key) return nullptr;
  }
  return "under suspicion";
}

bool Facts::may_race(const FactSubject& subject, const Configuration& configuration) const {
  return !journal_.state().dangers().is_suspect(subject.trial(configuration, {}));
}

std::vector<std::uint64_t> Facts::classes(const FactSubject& subject,
                                          const Configuration& configuration) const {
  std::vector<std::uint64_t> classes;
  const journal::Trial trial = subject.trial(configuration, {});
  if (classes_fail(subject) || quirky(subject, configuration) ||
      journal_.state().dangers().is_quarantined(trial) ||
      journal_.state().dangers().is_suspect(trial)) {
    return classes;
  }
  const std::uint64_t key = key_of(subject);
  const std::uint64_t digest = digest_of(configuration);
  for (const Check& check : checks_) {
    if (check.subject == key && check.configuration == digest && check.right) {
      push(classes, check.class_key);
    }
  }
  return classes;
}

bool Facts::passed_in_class(const FactSubject& subject, const Configuration& configuration,
                            const Shape& shape) const {
  const std::uint64_t wanted = subject.package.class_key(shape, configuration);
  for (const std::uint64_t key : classes(subject, configuration)) {
    if (key == wanted) return true;
  }
  return false;
}

bool Facts::classes_fail(const FactSubject& subject) const {
  return contains(refuted_, key_of(subject));
}

// --- what changes them ---

void Facts::note(const FactSubject& subject, const Configuration& configuration,
                 std::uint64_t class_key, bool right) {
  if (!subject.package.has_classes() || classes_fail(subject)) return;
  const std::uint64_t key = key_of(subject);
  const std::uint64_t digest = digest_of(configuration);
  for (const Check& check : checks_) {
    if (check.subject != key || check.configuration != digest || check.class_key != class_key) {
      continue;
    }
    if (check.right == right) return;
    push(refuted_, key);
    ++version_;
    return;
  }
  if (right && checks_.size() >= kMaxChecks) return;
  push(checks_, {key, digest, class_key, right});
  ++version_;
}

void Facts::passed(const FactSubject& subject, const Configuration& configuration,
                   const Shape& shape) {
  note(subject, configuration, subject.package.class_key(shape, configuration), true);
}

void Facts::wrong(const FactSubject& subject, const journal::Trial& trial) {
  const std::uint64_t key = subject.package.class_key(trial.shape, trial.configuration);
  journal_.wrong(trial, key);
  note(subject, trial.configuration, key, false);
  ++version_;
}

void Facts::died(const journal::Open& open, journal::Ending ending, const std::string& detail) {
  std::vector<journal::Open> all;
  push(all, open);
  std::vector<journal::Verdict> verdicts = judge(all, ending, journal::Witness::supervisor);
  for (journal::Verdict& verdict : verdicts) verdict.detail = detail;
  (void)journal_.accuse(verdicts);
  // Nor is it tried again at other shapes, where it waits for a gap.
  const journal::TrialKey died = danger_key(open.trial.plain_key());
  for (Retry& retry : retries_) retry.open = retry.open && danger_key(retry.key) != died;
  ++version_;
}

void Facts::reference_ran(const DeviceInfo& device, bool well) {
  journal_.reference_ran(device.device_key(), device.driver_key(), well);
  ++version_;
}

void Facts::survived(const journal::Trial& trial, Where where) {
  const bool suspect = journal_.state().dangers().is_suspect(trial);
  journal_.closed(trial, where);
  if (suspect) ++version_;
}

// --- retries ---

bool Facts::may_retry(const journal::Trial& trial, bool missed, Where where) const {
  const auto suspect = journal_.state().dangers().suspect(trial);
  const std::uint64_t session = journal_.state().session().number;
  if (!suspect || suspect->crash_seen_in(session)) return false;
  if (journal_.state().dangers().is_wrong(trial) ||
      journal_.state().dangers().is_quarantined(trial))
    return false;
  if (!missed && suspect->session == session) return false;
  journal::TrialKey key = trial.plain_key();
  if (where == Where::launches) {
    const bool here =
        std::any_of(suspect->at.begin(), suspect->at.end(),
                    [&](const journal::Suspect::Place& place) { return place.shape == key.shape; });
    if (!here || suspect->cause != journal::SuspicionCause::machine_cut) return false;
  }
  for (const Retry& retry : retries_) {
    const bool runs = retry.open && retry.where == Where::launches;
    if (runs && journal_.state().dangers().is_suspect(retry.key)) return false;
    key.shape = suspect->survived ? key.shape : retry.key.shape;
    if (retry.key == key) return false;
  }
  return true;
}

void Facts::begin_retry(const journal::Trial& trial, Where where) {
  push(retries_, {trial.plain_key(), where, true});
  ++version_;
}

void Facts::end_retry(const journal::Trial& trial, bool tried) {
  for (std::size_t i = retries_.size(); i-- > 0;) {
    if (!retries_[i].open || !(retries_[i].key == trial.plain_key())) continue;
    retries_[i].open = false;
    if (!tried) retries_.erase(retries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace idletune::detail
