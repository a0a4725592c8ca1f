#include "agent/explore/exploration.hpp"

#include <algorithm>
#include <cstdio>

#include "agent/explore/common_identity.hpp"
#include "agent/explore/pace.hpp"

namespace idletune::explore {
namespace {

const char* stage_name(TrialStage stage) {
  switch (stage) {
    case TrialStage::compile: return "compile";
    case TrialStage::prepare: return "prepare";
    case TrialStage::check: return "check";
    case TrialStage::measure: return "measure";
  }
  return "unknown stage";
}

}  // namespace

Identity identity_of(const KernelPackage& package, const DeviceInfo& device,
                     const Settings& settings) {
  const auto shape = settings.shape.values();
  Identity identity = common_identity(package, device, settings);
  identity["shape"] = std::vector<std::int64_t>(shape.begin(), shape.end());
  for (std::size_t i = 0; i < settings.shape.feature_count(); ++i) {
    identity["features"].push_back(settings.shape.feature(i));
  }
  if (settings.captured_digest != 0) {
    identity["captured"] = hexadecimal(settings.captured_digest);
  }
  return identity;
}

Exploration::Exploration(std::shared_ptr<const KernelPackage> package, const DeviceInfo& device,
                         const Order& order, const Settings& settings, TrialRunner& runner,
                         journal::Journal& journal, Log& log)
    : package_(std::move(package)),
      device_key_(device.device_key()),
      driver_key_(device.driver_key()),
      order_(order),
      settings_(settings),
      runner_(runner),
      journal_(journal),
      log_(log),
      next_control_(Clock::now()) {
  for (const ExploredConfiguration& result : log.results()) {
    if (result.number < order.size()) done_.insert(result.number);
  }
}

Status Exploration::run(const std::function<bool(const Progress&)>& stop) {
  Status status = prepare();
  if (status.ok()) status = explore_all(stop);
  const Status synced = log_.sync();
  return status.ok() ? synced : status;
}

// The reference's outputs, so that what is wrong with them is not blamed on a configuration.
Status Exploration::prepare() {
  if (done_.size() >= order_.size()) return {};
  for (std::uint32_t seed = 1; seed <= settings_.checks; ++seed) {
    TrialRequest request = request_of(TrialStage::prepare, package_->default_configuration());
    request.seed = seed;
    TrialOutcome outcome;
    if (Status status = run_stage(request, nullptr, outcome); !status.ok()) return status;
    if (outcome.status != TrialStatus::correct) {
      return Status(StatusCode::device_error, "nothing can be measured at this shape: " +
                                                  std::string(trial_status_name(outcome.status)) +
                                                  ": " + outcome.message);
    }
  }
  return {};
}

Status Exploration::explore_all(const std::function<bool(const Progress&)>& stop) {
  Progress progress;
  progress.done = done_.size();
  progress.total = order_.size();
  // What is postponed is appended, so that it comes after everything else.
  postponed_.clear();
  std::uint64_t next = 0;
  std::size_t next_postponed = 0;
  for (;;) {
    while (next < order_.size() && is_done(next)) ++next;
    const bool last_chance = next >= order_.size();
    if (last_chance && next_postponed >= postponed_.size()) return {};
    if (stop(progress)) return {};
    if (Status status = control_if_due(); !status.ok()) return status;
    const std::uint64_t number = last_chance ? postponed_[next_postponed++] : next++;
    Fate fate = Fate::done;
    if (Status status = explore_one(number, last_chance, fate); !status.ok()) return status;
    if (fate == Fate::postponed) continue;
    progress.done = done_.size();
    progress.last = &log_.results().back();
  }
}

journal::Trial Exploration::trial_of(const Configuration& configuration) const {
  journal::Trial trial;
  trial.kernel = package_->digest();
  trial.device = device_key_;
  trial.driver = driver_key_;
  trial.shape = settings_.shape;
  trial.configuration = configuration;
  return trial;
}

TrialRequest Exploration::request_of(TrialStage stage, const Configuration& configuration) const {
  TrialRequest request;
  request.stage = stage;
  request.shape = settings_.shape;
  request.configuration = configuration;
  request.deadline = settings_.run_deadline;
  request.captured = settings_.captured;
  request.captured_digest = settings_.captured_digest;
  return request;
}

// `trial`: the journal's record of the configuration; null for what is not announced.
Status Exploration::run_stage(const TrialRequest& request, JournaledTrial* trial,
                              TrialOutcome& outcome) {
  if (trial != nullptr) {
    (void)trial->begin(request.stage, runner_.isolated());
    trial->handed_over();
  }
  if (Status status = runner_.start(request); !status.ok()) {
    if (trial != nullptr) trial->ended();
    return status;
  }
  while (!runner_.poll(kPollSlice, outcome)) {
    if (settings_.give_up == nullptr || !settings_.give_up()) continue;
    if (trial != nullptr) trial->ended();
    return given_up();
  }
  if (trial != nullptr) trial->ended(outcome);
  return {};
}

// --- one configuration ---

Status Exploration::explore_one(std::uint64_t number, bool last_chance, Fate& fate) {
  ExploredConfiguration result;
  result.number = number;
  result.configuration = order_.at(number);
  if (refused_beforehand(result)) return record(result);
  JournaledTrial trial(journal_, trial_of(result.configuration));
  if (!last_chance && journal_.state().is_suspect(trial.identity().key())) {
    postponed_.push_back(number);
    fate = Fate::postponed;
    return {};
  }
  if (Status status = try_stages(result, &trial); !status.ok()) return status;
  if (trial.death_is_ambiguous() && !last_chance) {
    // Somebody else may have killed the helper. Should this process die too, the next one
    // postpones the configuration.
    postponed_.push_back(number);
    fate = Fate::postponed;
    return {};
  }
  trial.conclude(result.status, result.message);
  return record(result);
}

// What no driver has to be asked for. A constraint over the shape's dimensions takes the
// configuration out of the space at this shape; a quarantine does not.
bool Exploration::refused_beforehand(ExploredConfiguration& result) const {
  const Result<LaunchPlan> plan = package_->plan(settings_.shape, result.configuration);
  if (!plan.ok()) {
    result.status = TrialStatus::constraints;
    result.message = plan.status().message();
    return true;
  }
  const auto known = journal_.state().quarantine(trial_of(result.configuration).key());
  if (!known) return false;
  result.status =
      known->reason == journal::QuarantineReason::hang ? TrialStatus::timeout : TrialStatus::crash;
  result.message = std::string("quarantined earlier (") +
                   journal::quarantine_reason_name(known->reason) + "): " + known->detail;
  return true;
}

Status Exploration::try_stages(ExploredConfiguration& result, JournaledTrial* trial) {
  TrialOutcome outcome;
  Status failure = run_stage(request_of(TrialStage::compile, result.configuration), trial, outcome);
  if (!failure.ok()) return failure;
  if (outcome.status == TrialStatus::correct || outcome.status == TrialStatus::compile) {
    result.compile = outcome.wall;
  }
  // The control may have left it compiled.
  const bool is_control = trial == nullptr;
  if (!is_control && control_ran_ && result.configuration == package_->default_configuration()) {
    result.compile = Nanoseconds{0};
  }
  if (!accept(outcome, result, failure)) return failure;
  failure = check(result, trial);
  if (!failure.ok() || result.status != TrialStatus::correct) return failure;
  return measure(result, trial);
}

bool Exploration::accept(const TrialOutcome& outcome, ExploredConfiguration& result,
                         Status& failure) const {
  if (outcome.status == TrialStatus::correct) return true;
  if (outcome.stage == TrialStage::prepare && outcome.status != TrialStatus::crash &&
      outcome.status != TrialStatus::timeout) {
    failure = Status(StatusCode::device_error,
                     "nothing can be measured at this shape: " + outcome.message);
    return false;
  }
  // A limit of the device is no constraint of the space: it counts as a failure there.
  result.status =
      outcome.status == TrialStatus::constraints ? TrialStatus::runtime : outcome.status;
  result.message = std::string(stage_name(outcome.stage)) + ": " + outcome.message;
  result.samples.clear();
  return false;
}

Status Exploration::check(ExploredConfiguration& result, JournaledTrial* trial) {
  for (std::uint32_t seed = 1; seed <= settings_.checks; ++seed) {
    TrialRequest request = request_of(TrialStage::check, result.configuration);
    request.seed = seed;
    TrialOutcome outcome;
    Status failure = run_stage(request, trial, outcome);
    if (!failure.ok()) return failure;
    result.check += outcome.wall;
    result.max_error = std::max(result.max_error, outcome.max_error);
    if (!accept(outcome, result, failure)) return failure;
  }
  return {};
}

// A few runs first: they tell how many more there is time for. The checks were the warm-up.
Status Exploration::measure(ExploredConfiguration& result, JournaledTrial* trial) {
  const std::uint32_t first = std::min(settings_.repeats, kLeastRepeats);
  Status status = take_samples(first, settings_.measure_at_most, result, trial);
  // A single run that takes all the time there is has ended the first ones early.
  if (!status.ok() || result.samples.size() < first) return status;
  const double each = std::max(median_ns(result.samples), 1.0);
  const double time_left = static_cast<double>(settings_.measure_at_most.count()) - each * first;
  const double more = std::min(time_left / each, static_cast<double>(settings_.repeats - first));
  if (more < 1) return {};
  return take_samples(static_cast<std::uint32_t>(more), Nanoseconds{0}, result, trial);
}

Status Exploration::take_samples(std::uint32_t repeats, Nanoseconds stop_above,
                                 ExploredConfiguration& result, JournaledTrial* trial) {
  TrialRequest request = request_of(TrialStage::measure, result.configuration);
  request.repeats = repeats;
  request.stop_above = stop_above;
  TrialOutcome outcome;
  Status failure = run_stage(request, trial, outcome);
  if (!failure.ok()) return failure;
  result.measure += outcome.wall;
  result.setup = outcome.setup;
  if (!accept(outcome, result, failure)) return failure;
  if (outcome.samples.empty()) {
    return Status(StatusCode::internal, "a measurement came back without a time");
  }
  result.samples.insert(result.samples.end(), outcome.samples.begin(), outcome.samples.end());
  return {};
}

Status Exploration::record(const ExploredConfiguration& result) {
  ExploredConfiguration dated = result;
  dated.unix_seconds = unix_seconds();
  if (Status status = log_.append(dated); !status.ok()) return status;
  done_.insert(result.number);
  return log_.sync_if_due();
}

// --- the control ---

// The default is not announced in the journal: it is what applications run, and it is timed so
// often that it would be suspected of many a death.
Status Exploration::control_if_due() {
  if (settings_.control_interval.count() <= 0 || Clock::now() < next_control_) return {};
  ExploredConfiguration control;
  control.configuration = package_->default_configuration();
  if (refused_beforehand(control)) return {};
  control_ran_ = true;
  if (Status status = try_stages(control, nullptr); !status.ok()) return status;
  if (control.status != TrialStatus::correct) {
    settings_.control_interval = Nanoseconds{0};
    return {};
  }
  next_control_ = Clock::now() + settings_.control_interval;
  ControlMeasurement measurement;
  measurement.after = done_.size();
  measurement.samples = control.samples;
  measurement.unix_seconds = unix_seconds();
  return log_.append(measurement);
}

}  // namespace idletune::explore
