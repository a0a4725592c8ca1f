#include "agent/host/explore/exploration.hpp"

#include <algorithm>
#include <utility>

#include "models/package/kernel_package.hpp"
#include "platform/os/clock.hpp"

namespace idletune::explore {
namespace {

constexpr Nanoseconds kPollSlice = std::chrono::milliseconds(200);

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

// A configuration that is being tried.
struct Exploration::Attempt {
  std::uint64_t number = 0;  // in the order
  Configuration configuration;
  JournaledTrial* trial = nullptr;             // null: not announced, or concluded
  std::vector<ExploredConfiguration> results;  // by problem
  std::vector<std::size_t> exists_at;          // these problems, small ones first
  // What ended it for all problems that are left, if anything did.
  TrialStatus status = TrialStatus::correct;
  std::string message;
  bool ambiguous = false;  // somebody else may have killed the helper

  bool ended() const { return status != TrialStatus::correct; }
  void end(TrialStatus why, std::string text) {
    status = why;
    message = std::move(text);
  }
  void conclude() {
    if (trial != nullptr) trial->conclude(status, message);
    trial = nullptr;
  }
};

Exploration::Exploration(std::shared_ptr<const KernelPackage> package, const DeviceInfo& device,
                         const Order& order, Settings settings, TrialRunner& runner,
                         journal::Journal& journal, Log& log)
    : package_(std::move(package)),
      device_key_(device.device_key()),
      driver_key_(device.driver_key()),
      order_(order),
      settings_(std::move(settings)),
      runner_(runner),
      journal_(journal),
      log_(log),
      pairs_(order, settings_.problems, log.results()),
      no_reference_(settings_.problems.size()),
      reference_ran_(settings_.problems.size()),
      next_control_(Clock::now()),
      results_before_(log.results().size()) {}

Exploration::Progress Exploration::progress() const {
  const auto& results = log_.results();
  return {pairs_.done(), pairs_.total(), pairs_.left_out(), again_,
          results.size() > results_before_ ? &results.back() : nullptr};
}

bool Exploration::stopped() {
  stopped_ = stopped_ || (*stop_)(progress());
  return stopped_;
}

Status Exploration::run(const std::function<bool(const Progress&)>& stop) {
  stop_ = &stop;
  stopped_ = false;
  Status status = explore_all();
  again_ = settings_.finalists > 0;
  stopped_ = false;
  if (status.ok() && again_ && !stopped()) status = time_finalists();
  const Status synced = log_.sync();
  return status.ok() ? synced : status;
}

// What is postponed comes after everything else.
Status Exploration::explore_all() {
  std::vector<std::uint64_t> postponed;
  for (std::uint64_t i = 0; i < order_.size() + postponed.size(); ++i) {
    const bool last_chance = i >= order_.size();
    const std::uint64_t number =
        last_chance ? postponed[static_cast<std::size_t>(i - order_.size())] : i;
    if (pairs_.open(number) == 0) continue;
    if (stopped()) return {};
    if (Status status = control_if_due(); !status.ok()) return status;
    Fate fate = Fate::done;
    if (Status status = explore_one(number, last_chance, fate); !status.ok()) return status;
    if (fate == Fate::postponed) postponed.push_back(number);
  }
  return {};
}

// --- stages ---

TrialRequest Exploration::request_of(TrialStage stage, std::size_t problem,
                                     const Configuration& configuration) const {
  TrialRequest request;
  request.stage = stage;
  request.shape = settings_.problems[problem];
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
    if (trial->begin(request.stage, runner_.isolated()) == 0) {
      return {StatusCode::busy,
              "too many configurations may have killed the helper; the same command goes on"};
    }
    trial->handed_over();
  }
  Status status = runner_.start(request);
  while (status.ok() && !runner_.poll(kPollSlice, outcome)) {
    if (settings_.give_up == nullptr || !settings_.give_up()) continue;
    status = Status(StatusCode::busy, "given up while a configuration was tried");
  }
  if (trial == nullptr) return status;
  status.ok() ? trial->ended(outcome) : trial->ended();
  return status;
}

// Where it does not run, nothing can be measured. One that does so no longer, or not even as the
// first thing in a new helper, is an error.
Status Exploration::ask_reference(std::size_t problem) {
  TrialRequest request =
      request_of(TrialStage::prepare, problem, package_->default_configuration());
  for (request.seed = 1; request.seed <= std::min(settings_.checks, kInputs); ++request.seed) {
    TrialOutcome outcome;
    if (Status status = run_stage(request, nullptr, outcome); !status.ok()) return status;
    if (outcome.status == TrialStatus::correct) continue;
    no_reference_[problem] = "nothing can be measured at " +
                             package_->inputs().problem_text(settings_.problems[problem]) + ": " +
                             trial_status_name(outcome.status) + ": " + outcome.message;
    const bool is_error = reference_ran_[problem] || outcome.reference == ReferenceRun::failed;
    return is_error ? Status(StatusCode::device_error, no_reference_[problem]) : Status();
  }
  reference_ran_[problem] = true;
  return {};
}

// The reference runs somewhere, so that what is wrong with it is not blamed on a configuration.
Status Exploration::prepare() {
  std::size_t asked = 0;
  for (const std::size_t s : pairs_.by_extent()) {
    if (prepared_ || asked++ == kLeastSmallProblems) break;
    if (Status status = ask_reference(s); !status.ok()) return status;
    prepared_ = reference_ran_[s];
  }
  return prepared_ ? Status()
                   : Status(StatusCode::device_error, no_reference_[pairs_.by_extent().front()]);
}

// What an outcome says: nothing bad; that the configuration cannot run at this problem, which is in
// its result then; or that it has ended. Error: it is the reference's fault.
Status Exploration::judge(const TrialOutcome& outcome, TrialStage stage, std::size_t problem,
                          Attempt& attempt) {
  if (outcome.status == TrialStatus::correct) return {};
  attempt.ambiguous = outcome.ambiguous;
  const bool nothing_ran = outcome.stage == TrialStage::prepare && !outcome.ambiguous;
  if (nothing_ran) {
    if (Status status = ask_reference(problem); !status.ok()) return status;
  }
  const std::string message =
      stage_name(outcome.stage) +
      (settings_.is_list && stage != TrialStage::compile
           ? " at " + package_->inputs().problem_text(settings_.problems[problem])
           : "") +
      ": " + outcome.message;
  // A limit of the device is no constraint of the space: it counts as a failure there.
  const bool limit = outcome.status == TrialStatus::constraints;
  ExploredConfiguration& result = attempt.results[problem];
  result.samples.clear();
  if (!nothing_ran && !(limit && stage == TrialStage::measure)) {
    attempt.end(limit ? TrialStatus::runtime : outcome.status, message);
    return {};
  }
  result.status = TrialStatus::runtime;
  result.message = message;
  return {};
}

// --- one configuration ---

Exploration::Attempt Exploration::attempt_at(std::uint64_t number,
                                             const Configuration& configuration) const {
  Attempt attempt;
  attempt.number = number;
  attempt.configuration = configuration;
  attempt.results.resize(settings_.problems.size());
  for (const std::size_t s : pairs_.by_extent()) {
    attempt.results[s].number = pairs_.number(number, s);
    attempt.results[s].configuration = configuration;
    if (package_->plan(settings_.problems[s], configuration).ok()) attempt.exists_at.push_back(s);
  }
  return attempt;
}

journal::Trial Exploration::trial_of(const Configuration& configuration) const {
  journal::Trial trial;
  trial.kernel = package_->digest();
  trial.device = device_key_;
  trial.driver = driver_key_;
  trial.shape = settings_.problems[pairs_.by_extent().front()];
  trial.configuration = configuration;
  return trial;
}

// What no driver has to be asked for. A constraint over the dimensions takes the configuration out
// of the space at a problem; a quarantine does not.
bool Exploration::refused_beforehand(Attempt& attempt) const {
  if (attempt.exists_at.empty()) {
    attempt.end(TrialStatus::constraints, "");
  } else if (const auto known =
                 journal_.state().dangers().quarantine(trial_of(attempt.configuration).key())) {
    const bool hung = known->reason == journal::QuarantineReason::hang;
    attempt.end(hung ? TrialStatus::timeout : TrialStatus::crash,
                std::string("quarantined earlier (") +
                    journal::quarantine_reason_name(known->reason) + "): " + known->detail);
  }
  return attempt.ended();
}

Status Exploration::explore_one(std::uint64_t number, bool last_chance, Fate& fate) {
  for (const std::size_t s : pairs_.by_extent()) {
    pairs_.leave_out_if_slow(number, s, settings_.far_too_slow);
  }
  if (pairs_.open(number) == 0) return {};
  // First: problems that the kernel cannot have would refuse every configuration.
  if (Status status = prepare(); !status.ok()) return status;
  Attempt attempt = attempt_at(number, order_.at(number));
  if (refused_beforehand(attempt)) return record_rest(attempt);
  JournaledTrial trial(journal_, trial_of(attempt.configuration));
  fate = Fate::postponed;
  if (!last_chance && journal_.state().dangers().is_suspect(trial.identity().key())) return {};
  attempt.trial = &trial;
  if (Status status = try_everywhere(attempt); !status.ok()) return status;
  // Should this process die too, the next one postpones the configuration.
  if (attempt.ambiguous && !last_chance) return {};
  fate = Fate::done;
  attempt.conclude();
  return attempt.ended() ? record_rest(attempt) : Status();
}

Status Exploration::try_everywhere(Attempt& attempt) {
  if (Status status = compile_and_check(attempt); !status.ok()) return status;
  bool any = false;
  for (const std::size_t s : pairs_.by_extent()) {
    pairs_.leave_out_if_slow(attempt.number, s, settings_.far_too_slow);
    if (pairs_.is_done(attempt.number, s)) continue;
    if (attempt.ended() || (any && stopped())) return {};
    ExploredConfiguration& result = attempt.results[s];
    if (const auto plan = package_->plan(settings_.problems[s], attempt.configuration);
        !plan.ok()) {
      result.status = TrialStatus::constraints;
      result.message = plan.status().message();
    } else if (!no_reference_[s].empty()) {
      result.status = TrialStatus::runtime;
      result.message = no_reference_[s];
    } else if (Status status = measure(s, attempt); !status.ok()) {
      return status;
    }
    if (attempt.ended()) return {};
    // A process that is killed behind its last result has no open trial.
    if (pairs_.open(attempt.number) == 1) attempt.conclude();
    if (Status status = record(result); !status.ok()) return status;
    any = true;
  }
  return {};
}

Status Exploration::compile_and_check(Attempt& attempt) {
  const std::size_t smallest = attempt.exists_at.front();
  TrialOutcome outcome;
  const TrialRequest request = request_of(TrialStage::compile, smallest, attempt.configuration);
  if (Status status = run_stage(request, attempt.trial, outcome); !status.ok()) return status;
  // The control may have left it compiled.
  const bool new_here = attempt.trial == nullptr || !control_ran_ ||
                        attempt.configuration != package_->default_configuration();
  if (new_here &&
      (outcome.status == TrialStatus::correct || outcome.status == TrialStatus::compile)) {
    attempt.results[smallest].compile = outcome.wall;
  }
  Status status = judge(outcome, request.stage, smallest, attempt);
  return status.ok() && !attempt.ended() ? check(attempt) : status;
}

// A problem at which nothing can run is passed over, but there must be one where something does.
Status Exploration::check(Attempt& attempt) {
  bool checked = settings_.checks == 0;
  // Drawn from the configuration, so that all problems get their turn.
  const std::uint64_t draw = settings_.seed ^ package_->space().key(attempt.configuration);
  for (const auto& [problem, inputs] : checks_of(settings_, attempt.exists_at, draw)) {
    TrialRequest request = request_of(TrialStage::check, problem, attempt.configuration);
    request.seed = inputs;
    TrialOutcome outcome;
    if (Status status = run_stage(request, attempt.trial, outcome); !status.ok()) return status;
    ExploredConfiguration& result = attempt.results[problem];
    result.check += outcome.wall;
    result.max_error = std::max(result.max_error, outcome.max_error);
    Status status = judge(outcome, request.stage, problem, attempt);
    if (!status.ok() || attempt.ended()) return status;
    checked = checked || outcome.status == TrialStatus::correct;
  }
  if (checked) return {};
  attempt.end(TrialStatus::runtime,
              "no output can be checked: " + attempt.results[attempt.exists_at.front()].message);
  return {};
}

// --- times ---

// A few runs first: they tell whether the configuration is hopeless here, and how many more there
// is time for.
Status Exploration::measure(std::size_t problem, Attempt& attempt) {
  ExploredConfiguration& result = attempt.results[problem];
  result.status = TrialStatus::correct;
  const double best = pairs_.best_ns(problem);
  const auto most = static_cast<double>(settings_.measure_at_most.count());
  TrialRequest request = request_of(TrialStage::measure, problem, attempt.configuration);
  request.repeats = std::min(settings_.repeats, kLeastRepeats);
  request.stop_above = settings_.measure_at_most;
  request.cold = best > 0.1 * most;  // caches are cold for a small part of a long run only
  if (Status status = take_samples(request, problem, attempt); !status.ok()) return status;
  // A single run that takes all the time there is has ended the first ones early.
  if (result.samples.size() < request.repeats) return {};
  const double each = std::max(median_ns(result.samples), 1.0);
  if (attempt.trial != nullptr && best > 0 && each > settings_.hopeless * best) return {};
  const double more = std::min(most / each - request.repeats,
                               static_cast<double>(settings_.repeats - request.repeats));
  if (more < 1) return {};
  request.repeats = static_cast<std::uint32_t>(more);
  request.stop_above = Nanoseconds{0};
  return take_samples(request, problem, attempt);
}

Status Exploration::take_samples(const TrialRequest& request, std::size_t problem,
                                 Attempt& attempt) {
  TrialOutcome outcome;
  if (Status status = run_stage(request, attempt.trial, outcome); !status.ok()) return status;
  ExploredConfiguration& result = attempt.results[problem];
  result.measure += outcome.wall;
  result.setup = outcome.setup;
  if (outcome.status == TrialStatus::correct && outcome.samples.empty()) {
    return Status(StatusCode::internal, "a measurement came back without a time");
  }
  result.samples.insert(result.samples.end(), outcome.samples.begin(), outcome.samples.end());
  return judge(outcome, request.stage, problem, attempt);
}

Status Exploration::time_finalists() {
  const auto finalists = pairs_.finalists(settings_.finalists);
  for (std::uint32_t round = 1; round <= settings_.rounds; ++round) {
    for (const auto& [number, problems] : finalists) {
      if (stopped()) return {};
      if (Status status = time_again(number, problems, round); !status.ok()) return status;
    }
  }
  return {};
}

// What ends the configuration now ends it at all its problems here.
Status Exploration::time_again(std::uint64_t number, const std::vector<std::size_t>& problems,
                               std::uint32_t round) {
  Attempt attempt = attempt_at(number, order_.at(number));
  JournaledTrial trial(journal_, trial_of(attempt.configuration));
  if (!refused_beforehand(attempt)) attempt.trial = &trial;
  for (const std::size_t s : problems) {
    if (pairs_.rounds(number, s) >= round) continue;
    if (stopped()) break;
    ExploredConfiguration& result = attempt.results[s];
    if (!attempt.ended()) {
      if (Status status = measure(s, attempt); !status.ok()) return status;
    }
    if (attempt.ambiguous) return {};  // the next round, or the next call
    if (attempt.ended()) {
      result.status = attempt.status;
      result.message = attempt.message;
    }
    if (Status status = record(result); !status.ok()) return status;
  }
  attempt.conclude();
  return {};
}

// The default is not announced in the journal: it is what applications run, and it is timed so
// often that it would be suspected of many a death.
Status Exploration::control_if_due() {
  if (settings_.control_interval.count() <= 0 || Clock::now() < next_control_) return {};
  Attempt attempt = attempt_at(0, package_->default_configuration());
  if (refused_beforehand(attempt)) return {};
  if (Status status = prepare(); !status.ok()) return status;
  const std::size_t problem = attempt.exists_at.front();
  control_ran_ = true;
  Status status = compile_and_check(attempt);
  if (status.ok() && !attempt.ended()) status = measure(problem, attempt);
  const ExploredConfiguration& result = attempt.results[problem];
  if (!status.ok()) return status;
  if (attempt.ended() || result.samples.empty()) {
    settings_.control_interval = Nanoseconds{0};
    return {};
  }
  next_control_ = Clock::now() + settings_.control_interval;
  ControlMeasurement measurement;
  measurement.after = pairs_.done();
  measurement.samples = result.samples;
  measurement.unix_seconds = real_clock().unix_seconds();
  return log_.append(measurement);
}

// --- records ---

Status Exploration::record(ExploredConfiguration& result) {
  result.unix_seconds = real_clock().unix_seconds();
  if (Status status = log_.append(result); !status.ok()) return status;
  pairs_.note(result);
  return log_.sync_if_due();
}

// What stands in the way of a configuration stands in the way of its problems that are left.
Status Exploration::record_rest(Attempt& attempt) {
  for (std::size_t s = 0; s < settings_.problems.size(); ++s) {
    if (pairs_.is_done(attempt.number, s)) continue;
    const auto plan = package_->plan(settings_.problems[s], attempt.configuration);
    ExploredConfiguration& result = attempt.results[s];
    result.status = plan.ok() ? attempt.status : TrialStatus::constraints;
    result.message = plan.ok() ? attempt.message : plan.status().message();
    if (Status status = record(result); !status.ok()) return status;
  }
  return {};
}

}  // namespace idletune::explore
