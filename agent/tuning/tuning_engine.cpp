// The engine's loop: what happens in one call of run(), and how stages start and end.
#include "agent/tuning/tuning_engine.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <cmath>

namespace idletune::detail {
namespace {

constexpr Nanoseconds kForever = std::chrono::hours(24);

bool on_device(TrialStage stage) { return stage != TrialStage::compile; }

LedgerOptions ledger_options(const AgentOptions& options) {
  LedgerOptions result;
  result.share = options.overhead_limit;
  result.kappa_idle = options.idle_cost;
  result.kappa_cpu = options.compile_cost;
  return result;
}

LedgerState ledger_state(const journal::Ledger& stored) {
  LedgerState state;
  state.charged_ns = stored.charged.count();
  state.kernel_ns = stored.kernel_time.count();
  state.savings_ns = stored.savings.count();
  return state;
}

}  // namespace

TuningEngine::TuningEngine(const AgentOptions& options, journal::Journal& journal,
                           const Surroundings& surroundings)
    : options_(options),
      journal_(journal),
      surroundings_(surroundings),
      ledger_(ledger_options(options), ledger_state(journal.state().ledger())),
      worker_(surroundings.builds) {}

TuningEngine::~TuningEngine() {
  release_device();
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    // A helper is killed, whatever it is doing; a stage in this process is waited for.
    kernel->runner.reset();
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      drain_tickets(*task);
      if (!task->intent_open || task->death_is_ambiguous) continue;
      // A trial that is not finished rests: its intent must not look like a death.
      journal::Trial trial = task->identity;
      trial.configuration = task->proposal.configuration;
      journal_.closed(trial.key());
    }
  }
}

void TuningEngine::release_device() {
  if (building_ != nullptr) {
    (void)worker_.wait(kForever);
    finish_install();
  }
  IdleReport ignored;
  if (in_flight_ && !in_flight_->task->kernel.runner->isolated()) {
    (void)finish_stage(kForever, ignored);
  }
}

IdleReport TuningEngine::run(Nanoseconds budget, TimeSource source, ShapeTask* only) {
  IdleReport report;
  housekeeping();
  if (kernels_.empty()) {
    report.why = "no kernel is loaded";
    return report;
  }
  gap_needed_ = Nanoseconds{0};
  const Nanoseconds start = now();
  renew_one(only);
  for (;;) {
    const Nanoseconds remaining = budget - (now() - start);
    if (remaining.count() <= 0) {
      report.waiting = in_flight_.has_value() || building_ != nullptr;
      report.why = "the budget is used up";
      break;
    }
    if (in_flight_ && !finish_stage(remaining, report)) {
      report.waiting = true;
      report.why = "a stage is still running";
      break;
    }
    if (building_ != nullptr) {
      // The build uses the application's device object, so nothing else of ours may do so
      // meanwhile.
      if (!worker_.wait(budget - (now() - start))) {
        report.waiting = true;
        report.why = "an adopted configuration is being built";
        break;
      }
      finish_install();
      continue;
    }
    if (recall_one()) continue;
    ShapeTask* task = choose(source, only);
    if (task == nullptr) {
      report.why =
          ended_everywhere() ? "tuning has ended for this process" : "nothing pays at present";
      break;
    }
    const Next next = start_stage(*task, source, budget - (now() - start), report);
    if (next == Next::does_not_fit) {
      report.why = "the next stage does not fit";
      break;
    }
  }
  report.used = now() - start;
  leave_in_flight();
  housekeeping();
  return report;
}

// Whether a build or a stage of ours uses the application's device object from another thread.
bool TuningEngine::device_is_used(const KernelTask& kernel) const {
  const Device* device = &kernel.state->device();
  if (building_ != nullptr && &building_->kernel.state->device() == device) return true;
  if (!in_flight_) return false;
  const KernelTask& flying = in_flight_->task->kernel;
  return &flying.state->device() == device && !flying.runner->isolated();
}

DeviceTask& TuningEngine::device_task(Device& device) {
  for (const std::unique_ptr<DeviceTask>& task : devices_) {
    if (task->is(device)) return *task;
  }
  devices_.push_back(std::make_unique<DeviceTask>(device, now()));
  return *devices_.back();
}

// For all kernels of the kernel's device; what other devices do is not concerned.
void TuningEngine::end_tuning(KernelTask& kernel, const std::string& why) {
  if (kernel.device->ended()) return;
  kernel.device->end(joined({"tuning ended on ", kernel.state->device().info().name, ": ", why}));
  log(1, {kernel.device->ended_why()});
}

bool TuningEngine::ended_everywhere() const {
  for (const std::unique_ptr<DeviceTask>& device : devices_) {
    if (!device->ended()) return false;
  }
  return !devices_.empty();
}

// A launch of the application's own may have spoilt its device.
void TuningEngine::notice_lost_devices() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (const Status usable = kernel->state->device().usable(); !usable.ok()) {
      end_tuning(*kernel, usable.message());
    }
  }
}

void TuningEngine::housekeeping() {
  notice_lost_devices();
  notice_new_shapes();
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (device_is_used(*kernel)) break;
      drain_tickets(*task);  // may start a build
      credit_launches(*task);
      watch_production(*task);
      reclaim(*task);
    }
  }
  note(false);
}

// --- one stage ---

bool TuningEngine::ensure_runner(KernelTask& kernel) {
  if (kernel.runner != nullptr) return true;
  if (!kernel.runner_status.ok()) return false;
  Result<std::unique_ptr<TrialRunner>> runner =
      surroundings_.make_trial_runner(kernel.state->device(), kernel.state->shared_package());
  if (!runner.ok()) {
    kernel.runner_status = runner.status();
    log(1, {kernel.runner_status.message()});
    return false;
  }
  // One helper at a time: each holds a driver's worth of memory.
  for (const std::unique_ptr<KernelTask>& other : kernels_) {
    if (!(*runner)->isolated() || other.get() == &kernel) continue;
    other->runner.reset();
    other->prepared_for = nullptr;
  }
  kernel.runner = std::move(*runner);
  return true;
}

StageContext TuningEngine::stage_context(const ShapeTask& task) const {
  StageContext context;
  context.incumbent_run = task.running_time;
  context.reference_run = task.reference_run;
  const KernelPackage& package = task.kernel.state->package();
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    if (package.argument(i).kind != ArgumentKind::buffer) continue;
    Result<std::uint64_t> elements = package.buffer_elements(i, task.slot.shape, task.running());
    if (elements.ok()) {
      context.scratch_bytes += *elements * scalar_size_bytes(package.argument(i).type);
    }
  }
  return context;
}

std::optional<TrialRequest> TuningEngine::next_request(const ShapeTask& task) const {
  if (task.baseline) return task.baseline->next();
  if (task.in_place) return task.in_place->next();
  if (task.trial) return task.trial->next();
  return std::nullopt;
}

bool TuningEngine::concerns_candidate(const ShapeTask& task) const {
  if (task.baseline || task.rechecking) return false;
  return task.in_place || (task.trial && !task.trial->next_is_incumbent());
}

// The intent of a candidate is on the medium before the candidate's first compile, and again before
// its first run.
void TuningEngine::announce(ShapeTask& task, const TrialRequest& request) {
  if (!concerns_candidate(task)) return;
  const bool runs = request.stage != TrialStage::compile && request.stage != TrialStage::prepare;
  if (task.intent_open && (task.intent_to_run || !runs)) return;
  journal::Intent intent;
  intent.trial = task.identity;
  intent.trial.configuration = request.configuration;
  intent.stage = runs ? journal::IntentStage::run : journal::IntentStage::compile;
  intent.isolated = task.kernel.runner->isolated();
  journal_.intent(intent);
  task.intent_open = true;
  task.intent_to_run = runs;
}

Nanoseconds TuningEngine::predict(const ShapeTask& task, const TrialRequest& request) const {
  return task.estimates.relaxed(request.stage, task.estimates.predict(request, stage_context(task)),
                                task.misses);
}

TuningEngine::Next TuningEngine::start_stage(ShapeTask& task, TimeSource source,
                                             Nanoseconds remaining, IdleReport& report) {
  std::optional<TrialRequest> request = next_request(task);
  if (!request) return Next::nothing;
  if (!ensure_runner(task.kernel)) return Next::nothing;
  const Nanoseconds predicted = predict(task, *request);
  if (on_device(request->stage) && predicted > remaining) {
    ++task.misses;
    report.needs = predicted;
    gap_needed_ = predicted;
    return Next::does_not_fit;
  }
  // The first launch is part of the compilation, and an endless one must end it too.
  if (request->stage == TrialStage::compile) request->deadline = code_generation_deadline();
  announce(task, *request);
  in_flight_ = InFlight{&task, *request, source, all_launches(), now()};
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    in_flight_->log_ends.push_back(kernel->state->launch_log().end());
  }
  current_ = &task;
  const Status status = task.kernel.runner->start(*request);
  if (!status.ok()) {
    in_flight_.reset();
    task.kernel.runner_status = status;
    task.kernel.runner.reset();
    log(1, {task.kernel.state->name(), ": tuning ends: ", status.message()});
    return Next::nothing;
  }
  return Next::started;
}

bool TuningEngine::finish_stage(Nanoseconds wait, IdleReport& report) {
  ShapeTask& task = *in_flight_->task;
  TrialOutcome outcome;
  if (!task.kernel.runner->poll(wait, outcome)) return false;
  const InFlight flight = *in_flight_;
  in_flight_.reset();
  if (outcome.wall.count() == 0) outcome.wall = now() - flight.started;
  task.misses = 0;
  task.estimates.observe(flight.request, outcome, stage_context(task));
  if (outcome.stage == TrialStage::prepare && outcome.status == TrialStatus::correct) {
    task.reference_run = outcome.device;
  }
  if (flight.request.stage == TrialStage::compile) {
    task.kernel.compile_estimates.adopt_compile(task.estimates);
  }
  charge(task, flight, outcome);
  note_prepared(task, flight.request, outcome);
  if (options_.log_level >= 3) {
    log(3, {task.kernel.state->name(), ": stage ", static_cast<int>(outcome.stage), " ",
            trial_status_name(outcome.status), " in ", outcome.wall.count() / 1000, " us ",
            outcome.message});
  }
  const std::uint64_t steps_before = steps_ended_;
  on_outcome(task, outcome);
  ++report.stages;
  report.steps += static_cast<std::uint32_t>(steps_ended_ - steps_before);
  return true;
}

// The caller's gap is over while a stage runs on.
void TuningEngine::leave_in_flight() {
  if (!in_flight_ || in_flight_->gap_end.count() > 0) return;
  in_flight_->gap_end = now();
  in_flight_->disturbed_gap = all_launches() != in_flight_->launches_before;
}

// When the first launch since the stage began came; nothing where launches are not logged.
std::optional<Nanoseconds> TuningEngine::first_logged_launch(const InFlight& flight) const {
  std::optional<Nanoseconds> first;
  for (std::size_t i = 0; i < flight.log_ends.size(); ++i) {
    std::uint64_t position = flight.log_ends[i];
    LaunchLog::Entry entry;
    bool lost = false;
    const bool there = kernels_[i]->state->launch_log().read(position, entry, lost);
    if (lost) return flight.started;
    if (there && (!first || entry.at < *first)) first = entry.at;
  }
  return first;
}

// At most how long the stage delayed launches on the device: by what of it was left when the first
// one came. Where launches are not logged: not at all if none came, by what was left after the gap
// if they came then, otherwise by all of it.
Nanoseconds TuningEngine::interference(const InFlight& flight, const TrialOutcome& outcome) const {
  if (all_launches() == flight.launches_before) return Nanoseconds{0};
  const Nanoseconds whole = std::max(outcome.device, Nanoseconds{0});
  const Nanoseconds end = flight.started + outcome.wall;
  if (const std::optional<Nanoseconds> first = first_logged_launch(flight)) {
    return std::clamp(end - *first, Nanoseconds{0}, whole);
  }
  if (flight.disturbed_gap || flight.gap_end.count() == 0) return whole;
  return std::clamp(end - flight.gap_end, Nanoseconds{0}, whole);
}

void TuningEngine::charge(ShapeTask& task, const InFlight& flight, const TrialOutcome& outcome) {
  tuning_wall_ += outcome.wall;
  device_time_ += outcome.device;
  task.tuning_wall += outcome.wall;
  if (flight.source != TimeSource::idle) return;
  const std::int64_t before = ledger_.state().charged_ns;
  if (!on_device(outcome.stage)) {
    ledger_.charge_cpu(compile_work(outcome));
  } else {
    ledger_.charge_idle(outcome.wall, interference(flight, outcome));
  }
  task.charged += Nanoseconds(ledger_.state().charged_ns - before);
}

void TuningEngine::note_prepared(ShapeTask& task, const TrialRequest& request,
                                 const TrialOutcome& outcome) {
  KernelTask& kernel = task.kernel;
  const bool lost = outcome.status == TrialStatus::crash ||
                    outcome.status == TrialStatus::timeout ||
                    outcome.status == TrialStatus::runtime;  // the helper is replaced
  if (lost || kernel.prepared_for != &task) kernel.prepared = {};
  if (lost || on_device(request.stage)) kernel.prepared_for = lost ? nullptr : &task;
  if (lost || request.stage != TrialStage::prepare || outcome.status != TrialStatus::correct)
    return;
  const StepOptions step = step_options();
  for (std::size_t i = 0; i < step.seeds.size(); ++i) {
    kernel.prepared[i] = kernel.prepared[i] || step.seeds[i] == request.seed;
  }
}

void TuningEngine::on_outcome(ShapeTask& task, const TrialOutcome& outcome) {
  const bool fault = outcome.status == TrialStatus::timeout || outcome.status == TrialStatus::crash;
  const bool too_many = fault && task.kernel.device->count_fault();
  if (too_many || task.kernel.runner->poisoned()) end_tuning(task.kernel, outcome.message);
  task.death_is_ambiguous = outcome.status == TrialStatus::crash && outcome.ambiguous;
  if (task.baseline) {
    task.baseline->on_outcome(outcome);
    if (task.baseline->done()) end_baseline(task);
  } else if (task.in_place) {
    task.in_place->on_outcome(outcome);
    if (task.in_place->done()) {
      end_in_place(task);
    } else if (task.in_place->checked()) {
      start_in_place_timing(task);
    }
  } else if (task.trial) {
    task.trial->on_outcome(outcome);
    if (!task.trial->done()) return;
    if (task.rechecking) {
      end_recheck(task);
    } else {
      end_trial(task);
    }
  }
}

// --- what a step ends with ---

void TuningEngine::end_baseline(ShapeTask& task) {
  const ReferenceBaseline& baseline = *task.baseline;
  if (baseline.status() == TrialStatus::correct) {
    task.default_time = baseline.time();
    if (!task.variant) task.running_time = baseline.time();
    task.evidence.saw(baseline.time());
    task.searcher->tell(task.slot.fallback.configuration,
                        {TrialStatus::correct, baseline.time(), baseline.compile_time()});
    record(task, task.slot.fallback.configuration, TrialStatus::correct, baseline.time(),
           baseline.compile_time(), 1, std::string());
  } else {
    task.baseline_failed = true;
    log(1, {task.kernel.state->name(), ": the default configuration failed (",
            trial_status_name(baseline.status()), "): ", baseline.message()});
  }
  task.baseline.reset();
  current_ = nullptr;
}

void TuningEngine::record(ShapeTask& task, const Configuration& configuration, TrialStatus status,
                          Nanoseconds time, Nanoseconds compile, std::uint32_t seeds,
                          const std::string& message) {
  // Its intent stays open: the next start makes it a suspect. It is not proposed again until then.
  if (task.death_is_ambiguous) return;
  journal::Trial trial = task.identity;
  trial.configuration = configuration;
  if (status == TrialStatus::crash || status == TrialStatus::timeout) {
    journal_.quarantine(trial,
                        status == TrialStatus::crash ? journal::QuarantineReason::crash
                                                     : journal::QuarantineReason::hang,
                        message);
  }
  journal::Measurement measurement;
  measurement.trial = trial;
  measurement.status = status;
  if (status == TrialStatus::correct) {
    measurement.median = time;
    measurement.minimum = time;
    measurement.samples = 1;
  }
  measurement.compile = compile;
  measurement.checked_seeds = seeds;
  measurement.unix_seconds = std::chrono::duration_cast<std::chrono::seconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
  journal_.measured(measurement);
  if (status != TrialStatus::crash && status != TrialStatus::timeout) journal_.closed(trial.key());
}

void TuningEngine::conclude(ShapeTask& task, const StepEnd& end) {
  const Configuration& configuration = task.proposal.configuration;
  task.intent_open = task.intent_to_run = false;
  if (current_ == &task) current_ = nullptr;
  ++steps_ended_;
  streak_ = favourite_ == &task ? streak_ + 1 : 1;
  favourite_ = &task;
  record(task, configuration, end.status, end.time, end.compile, end.seeds, end.message);
  Observation observation;
  observation.status = end.status;
  observation.run_time = end.time;
  observation.compile_time = end.compile;
  task.searcher->tell(configuration, observation);
  task.evidence.step_ended(task.proposal, end.status, end.time);
  const bool is_first_pick = task.proposal.origin == ProposalOrigin::first_pick;
  if (is_first_pick) task.first_pick_time = end.time;
  if (options_.log_level >= 2) {
    log(2, {task.kernel.state->name(), ": ",
            to_text(task.kernel.state->package().space(), configuration), ": ",
            trial_verdict_name(end.verdict), " (", trial_status_name(end.status), ", ",
            end.time.count() / 1000, " us, running ", task.running_time.count() / 1000, " us) ",
            end.message});
  }
  if (end.verdict == TrialVerdict::adopt) {
    install(task, {configuration, is_first_pick ? Selection::first_pick : Selection::tuned,
                   end.time, false});
  }
}

void TuningEngine::end_trial(ShapeTask& task) {
  const CandidateTrial trial = *task.trial;
  task.trial.reset();
  if (trial.verdict() == TrialVerdict::inconclusive) {
    // The incumbent failed in the runner: nothing is known about the candidate.
    journal::Trial identity = task.identity;
    identity.configuration = task.proposal.configuration;
    journal_.closed(identity.key());
    task.intent_open = task.intent_to_run = false;
    current_ = nullptr;
    log(1, {task.kernel.state->name(), ": the running configuration failed: ", trial.message()});
    return;
  }
  StepEnd end;
  end.verdict = trial.verdict();
  end.status = trial.status();
  end.time = trial.candidate_time();
  end.compile = trial.compile_time();
  end.seeds = trial.checked_all_seeds() ? 2 : (end.time.count() > 0 ? 1 : 0);
  end.message = trial.message();
  conclude(task, end);
}

void TuningEngine::end_recheck(ShapeTask& task) {
  const CandidateTrial trial = *task.trial;
  task.trial.reset();
  task.rechecking = false;
  current_ = nullptr;
  if (trial.verdict() == TrialVerdict::reject_slow ||
      trial.verdict() == TrialVerdict::reject_failed) {
    demote(task, "no longer faster than the default");
    return;
  }
  if (trial.verdict() != TrialVerdict::adopt) return;
  if (trial.raw_incumbent_median().count() > 0) task.default_time = trial.raw_incumbent_median();
  if (trial.raw_candidate_median().count() > 0) task.running_time = trial.raw_candidate_median();
  task.watch = ProductionWatch(task.default_time, task.running_time);
}

void TuningEngine::end_in_place(ShapeTask& task) {
  const InPlaceTrial trial = *task.in_place;
  stop_in_place_timing(task);
  task.in_place.reset();
  if (trial.incumbent_time().count() > 0) {
    // Production's clock need not be that of the trials: the default's time keeps its ratio.
    if (task.running_time.count() > 0) {
      const double drift = static_cast<double>(trial.incumbent_time().count()) /
                           static_cast<double>(task.running_time.count());
      task.default_time = Nanoseconds(
          static_cast<std::int64_t>(static_cast<double>(task.default_time.count()) * drift));
    }
    task.running_time = trial.incumbent_time();
  }
  StepEnd end;
  end.verdict = trial.verdict();
  end.status = trial.status();
  end.time = trial.candidate_time();
  end.compile = trial.compile_time();
  end.seeds = end.status == TrialStatus::correct ? 2 : 0;
  conclude(task, end);
}

std::uint64_t TuningEngine::all_launches() const {
  std::uint64_t sum = 0;
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) sum += task->launches();
  }
  return sum;
}

void TuningEngine::log(int level, TextPieces message) const {
  if (options_.log != nullptr && level <= options_.log_level) {
    options_.log(options_.log_user, level, joined(message).c_str());
  }
}

}  // namespace idletune::detail
