// A stage begins and ends.
#include <idletune/text.hpp>

#include "agent/tuning/tuning_engine.hpp"

namespace idletune::detail {
namespace {

constexpr std::uint32_t kKillsOfACandidate = 3;  // of its helpers in a row, until it is given up

bool killed_by_others(const TrialOutcome& outcome) {
  return outcome.ambiguous && !runs_configuration(outcome.stage);
}

}  // namespace

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
    if (!(*runner)->isolated() || other.get() == &kernel || other->runner == nullptr) continue;
    other->contents.forget();
    // Its end takes as long as its driver likes.
    std::shared_ptr<TrialRunner> old = std::move(other->runner);
    run_errand([ended = std::move(old)]() mutable { ended.reset(); });
  }
  kernel.runner = std::move(*runner);
  return true;
}

StepOptions TuningEngine::step_options() const {
  StepOptions step;
  step.margin = options_.adoption_margin;
  step.shortest_deadline = options_.run_deadline;
  return step;
}

StageContext TuningEngine::stage_context(const ShapeTask& task) const {
  StageContext context;
  context.incumbent_run = task.running_time;
  context.reference_run = task.reference_run;
  const KernelPackage& package = task.kernel.state->package();
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    if (!is_memory(package.argument(i).kind)) continue;
    Result<std::uint64_t> bytes = package.buffer_bytes(i, task.slot.shape, task.running());
    if (bytes.ok()) context.scratch_bytes += *bytes;
  }
  return context;
}

Nanoseconds TuningEngine::predict(const ShapeTask& task, const TrialRequest& request) const {
  const StageEstimates& estimates = task.search.estimates();
  return estimates.relaxed(request.stage, estimates.predict(request, stage_context(task)),
                           task.misses);
}

TuningEngine::Next TuningEngine::start_stage(ShapeTask& task, TimeSource source,
                                             Nanoseconds remaining, IdleReport& report) {
  std::optional<TrialRequest> request = next_request(task.work);
  if (!request || !ensure_runner(task.kernel)) return Next::nothing;
  if (errand_) return Next::soon;
  const Nanoseconds predicted = predict(task, *request);
  // Compilations need the processor only, and may outlive the gap.
  if (request->stage != TrialStage::compile && predicted > remaining) {
    ++task.misses;
    task.blocker = Blocker::gap;
    task.gap_needed = predicted;
    report.needs = predicted;
    gap_needed_ = predicted;
    return Next::does_not_fit;
  }
  if (request->stage == TrialStage::compile) {
    if (!accounts_.may_compile(source, predicted, now())) {
      task.blocker = Blocker::compile;
      return Next::compiled_enough;
    }
    // The first launch is part of the compilation, and an endless one must end it too.
    request->deadline = code_generation_deadline();
  }
  task.blocker = Blocker::none;
  JournaledTrial* journaled = journaled_stage(task.work);
  current_ = &task;
  if (journaled != nullptr) {
    journaled->begin(request->stage, task.kernel.runner->isolated());
    begin_sync();
    if (errand_) return Next::soon;  // once it is on the medium
  }
  if (task.captured != 0 && !task.lent) {
    request->captured = capture_path(*task.kernel.state, task.slot.shape);
  }
  in_flight_.emplace(task, *request, source, now(), kernels_);
  const Status status = task.kernel.runner->start(*request);
  if (status.ok()) return Next::started;
  in_flight_.reset();
  if (journaled != nullptr) journaled->ended();
  task.kernel.runner_status = status;
  task.kernel.runner.reset();
  log(1, {task.kernel.state->name(), ": tuning ends: ", status.message()});
  return Next::nothing;
}

bool TuningEngine::finish_stage(Nanoseconds wait, IdleReport& report) {
  ShapeTask& task = in_flight_->task();
  TrialOutcome outcome;
  if (!task.kernel.runner->poll(wait, outcome)) return false;
  const StageInFlight stage = std::move(*in_flight_);
  in_flight_.reset();
  if (outcome.wall.count() == 0) outcome.wall = now() - stage.started();
  learn_from(task, stage, outcome);
  ++report.stages;
  JournaledTrial* journaled = journaled_stage(task.work);
  if (is_to_be_repeated(task, outcome)) {
    if (journaled != nullptr) journaled->ended();
    return true;
  }
  const std::uint64_t steps_before = steps_ended_;
  if (journaled != nullptr) journaled->ended(outcome);
  on_outcome(task.work, outcome);
  end_work(task);
  report.steps += static_cast<std::uint32_t>(steps_ended_ - steps_before);
  return true;
}

// A helper that others killed before the configuration ran says nothing about it: the stage is made
// again after a pause. A candidate whose helpers die so again and again (it may be what the memory
// is short for) is left to the next start; the default has to be measured all the same.
bool TuningEngine::is_to_be_repeated(ShapeTask& task, const TrialOutcome& outcome) {
  DeviceTask& device = *task.kernel.device;
  if (!killed_by_others(outcome)) {
    device.helper_answered();
    return false;
  }
  const std::uint32_t kills = device.helper_was_killed(now());
  log(1, {task.kernel.state->name(), ": ", outcome.message,
          ", by somebody else; it is started again "
          "after a pause"});
  return kills % kKillsOfACandidate != 0 || is<MeasuringDefault>(task.work);
}

// What a stage says besides its part in the step.
void TuningEngine::learn_from(ShapeTask& task, const StageInFlight& stage,
                              const TrialOutcome& outcome) {
  task.misses = 0;
  task.search.estimates().observe(stage.request(), outcome, stage_context(task));
  if (outcome.stage == TrialStage::prepare && outcome.status == TrialStatus::correct) {
    task.reference_run = outcome.device;
  }
  KernelTask& kernel = task.kernel;
  if (stage.request().stage == TrialStage::compile) {
    kernel.compile_estimates.adopt_compile(task.search.estimates());
  }
  accounts_.stage_ended(task, stage.source(), outcome, stage.interference(outcome, kernels_),
                        now());
  kernel.contents.stage_ended(stage.request(), outcome, step_options());
  if (options_.log_level >= 3) {
    log(3, {kernel.state->name(), ": stage ", static_cast<int>(outcome.stage), " ",
            trial_status_name(outcome.status), " in ", outcome.wall.count() / 1000, " us ",
            outcome.message});
  }
  const bool fault = !killed_by_others(outcome) && (outcome.status == TrialStatus::timeout ||
                                                    outcome.status == TrialStatus::crash);
  const bool too_many = fault && kernel.device->count_fault();
  if (too_many || kernel.runner->poisoned()) end_tuning(kernel, outcome.message);
}

}  // namespace idletune::detail
