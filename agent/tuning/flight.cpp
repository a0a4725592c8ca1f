#include "agent/tuning/flight.hpp"

#include <algorithm>
#include <utility>

#include <idletune/text.hpp>

#include "agent/trial/warm_up.hpp"
#include "models/core/digest.hpp"
#include "models/core/shared.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/thread.hpp"

namespace idletune::detail {
namespace {

// A helper holds a driver's worth of memory.
constexpr Nanoseconds kLongestRest = std::chrono::minutes(1);
constexpr std::uint32_t kKillsOfACandidate = 3;  // of its helpers in a row, until it is given up

bool killed_by_others(const TrialOutcome& outcome) {
  return outcome.ambiguous && !runs_configuration(outcome.stage);
}

// Who ran it may have been frozen. For how long it was awake nobody knows: no longer than its runs
// may take.
void leave_out_frozen(const TrialRequest& request, TrialOutcome& outcome) {
  if (request.deadline.count() == 0) return;
  constexpr std::uint32_t kUntimed = 3;  // runs: of the reference, to warm up, of a setup
  const Nanoseconds awake = std::min(outcome.wall, request.deadline * (kUntimed + request.repeats));
  outcome.frozen += outcome.wall - awake;
  outcome.wall = awake;
  outcome.device = std::min(outcome.device, awake);
}

}  // namespace

bool Flight::ensure_runner(KernelTask& kernel) {
  if (kernel.runner != nullptr) return true;
  if (!kernel.runner_status.ok()) return false;
  Result<std::unique_ptr<TrialRunner>> runner =
      surroundings_.make_trial_runner(kernel.state->device(), kernel.state->shared_package());
  if (!runner.ok()) {
    runner_failed(kernel, runner.status());
    return false;
  }
  // One helper at a time: each holds a driver's worth of memory.
  for (const std::unique_ptr<KernelTask>& other : kernels_) {
    if (other.get() == &kernel || other->runner == nullptr || !other->runner->isolated()) continue;
    end_runner(*other);
  }
  kernel.runner = std::move(*runner);
  kernel.runner_used = now();
  return true;
}

// Threads may be short for a moment.
void Flight::runner_failed(KernelTask& kernel, const Status& status) {
  constexpr std::uint32_t kTries = 3;
  kernel.runner.reset();
  if (status.code() == StatusCode::out_of_memory && ++kernel.runner_failures < kTries) return;
  kernel.runner_status = status;
  tell(options_, 1, "%: tuning ends: %", kernel.state->name(), status.message());
}

// Its end takes as long as its driver likes.
void Flight::end_runner(KernelTask& kernel) {
  kernel.contents.forget();
  run_errand([ended = shared(kernel.runner.release())]() mutable { ended.reset(); });
}

void Flight::look_after_runners() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (kernel->runner == nullptr) continue;
    if (flies() && &in_flight_->task().kernel == kernel.get()) continue;
    kernel->runner->reap();
    const bool rests = now() - kernel->runner_used >= kLongestRest;
    if (rests && kernel->runner->isolated() && worker_rests()) end_runner(*kernel);
  }
}

Flight::Next Flight::start_stage(ShapeTask& task, TimeSource source, Nanoseconds remaining,
                                 IdleReport& report) {
  std::optional<TrialRequest> request = task.work.next_request();
  const DeviceTask& device = *task.kernel.device;
  if (!request && device.reference_due()) {
    request.emplace();
    request->shape = task.slot.shape;
    request->configuration = task.slot.fallback.configuration;
    request->stage = TrialStage::prepare;
  }
  if (!request || !ensure_runner(task.kernel)) return Next::nothing;
  if (errands()) return Next::soon;
  // The data that it began on are gone.
  if (task.lent && !task.work.is(Work::resting)) return Next::forbidden;
  const Where place = task.kernel.trial_place();
  JournaledTrial* journaled = task.work.journaled_stage();
  const auto may = [&](const Configuration& configuration) {
    return facts_.may(task.facts(), configuration, task.slot.shape, place);
  };
  if (journaled != nullptr && !may(request->configuration)) return Next::forbidden;
  // It may have died elsewhere since it ran here: what it came to acquits it of nothing.
  const TryingCandidate* trying = task.work.trying();
  if (trying != nullptr && !may(trying->proposal.configuration)) return Next::forbidden;
  if (device.faulty()) request->stage = TrialStage::prepare;
  // The reference runs, or nothing does.
  if (request->stage == TrialStage::prepare || task.kernel.called) journaled = nullptr;
  const bool announced = journaled == nullptr || journaled->is_announced();
  const Next fits = fit(task, *request, source, remaining, announced, report);
  if (fits != Next::started) return fits;
  task.blocker = Blocker::none;
  if (core_.current_ != nullptr && core_.current_ != &task) core_.current_->work.rest();
  core_.current_ = task.work.is(Work::resting) ? nullptr : &task;
  if (journaled != nullptr) {
    const journal::Serial serial = journaled->begin(request->stage, place == Where::helper);
    if (serial == 0) return Next::nothing;  // too many trials are open
    begin_write();
    if (errands() || !journal_.durable(serial)) return Next::soon;
  }
  return hand_over(task, *request, source, journaled);
}

// Notes what it waits for where it does not.
Flight::Next Flight::fit(ShapeTask& task, TrialRequest& request, TimeSource source,
                         Nanoseconds remaining, bool announced, IdleReport& report) {
  if (task.kernel.called) return Next::started;  // takes no time
  const Nanoseconds predicted = core_.predict(task, request);
  // Compilations need the processor only, and may outlive the gap. What is announced in one that ends
  // before that is on the medium was announced in vain.
  const bool compiles = request.stage == TrialStage::compile;
  const Nanoseconds needed =
      (compiles ? Nanoseconds{0} : predicted) + (announced ? Nanoseconds{0} : sync_takes());
  if (!task.kernel.in_place.allowed) remaining -= core_.beyond_gap_;
  if (needed > remaining) {
    if (!compiles) task.misses = std::max(task.misses, 1u);
    task.blocker = Blocker::gap;
    task.gap_needed = needed;
    report.needs = needed;
    core_.gap_needed_ = needed;
    return Next::does_not_fit;
  }
  if (!compiles) return Next::started;
  if (!accounts_.may_compile(source, predicted, now())) {
    task.blocker = Blocker::compile;
    return Next::compiled_enough;
  }
  // The promise is one about all launches that are expected.
  if (source == TimeSource::idle && task.work.is(Work::trying)) {
    const Nanoseconds limit = accounts_.compile_limit(task, core_.expected_launches(task));
    if (limit >= predicted) request.compile_limit = limit;  // else it has its own reasons
  }
  // The first launch is part of the compilation, and an endless one must end it too.
  request.deadline = core_.code_generation_deadline();
  return Next::started;
}

Flight::Next Flight::hand_over(ShapeTask& task, TrialRequest& request, TimeSource source,
                               JournaledTrial* journaled) {
  if (task.captured != 0 && !task.lent) {
    request.captured = core_.capture_path(*task.kernel.state, task.slot.shape);
    request.captured_digest = task.captured;
  }
  in_flight_.reset(new StageInFlight(task, request, source, now(), kernels_));
  if (journaled != nullptr) {
    const journal::Trial& trial = journaled->identity();
    died_ = HandedOver();  // what was announced after it is durable
    in_flight_->note_runs(trial, core_.hand_over(trial, task.kernel.trial_place()));
  }
  const Status status = task.kernel.runner->start(request);
  if (status.ok()) {
    task.kernel.runner_failures = 0;
    if (journaled != nullptr) journaled->handed_over();
    return Next::started;
  }
  in_flight_.reset();
  runner_failed(task.kernel, status);
  return Next::nothing;
}

// A helper that others killed before the configuration ran says nothing about it: the stage is made
// again after a pause. A candidate whose helpers die so again and again (it may be what the memory
// is short for) is left to the next start; the default has to be measured all the same.
bool Flight::is_to_be_repeated(ShapeTask& task, const TrialOutcome& outcome) {
  DeviceTask& device = *task.kernel.device;
  if (!killed_by_others(outcome)) {
    device.helper_answered();
    return false;
  }
  const std::uint32_t kills = device.helper_was_killed(now());
  tell(options_, 1, "%: %, by somebody else; it is started again after a pause",
       task.kernel.state->name(), outcome.message);
  return kills % kKillsOfACandidate != 0 || task.work.is(Work::measuring_default);
}

// What a stage says besides its part in the step.
void Flight::learn_from(ShapeTask& task, const StageInFlight& stage, const TrialOutcome& outcome) {
  task.misses = 0;
  StageEstimates& estimates = task.search.estimates();
  const StageContext context = core_.stage_context(task, stage.request());
  if (estimates.observations(stage.request().stage) > 0) {
    const bool compiles = stage.request().stage == TrialStage::compile;
    accounts_.forecast_ended((compiles ? compile_work(outcome) : outcome.wall) <=
                             estimates.predict(stage.request(), context));
  }
  estimates.observe(stage.request(), outcome, context);
  if (outcome.stage == TrialStage::prepare && outcome.status == TrialStatus::correct) {
    task.reference_run = outcome.device;
  }
  KernelTask& kernel = task.kernel;
  if (stage.request().stage == TrialStage::compile) {
    kernel.compile_estimates.adopt_compile(task.search.estimates());
  }
  accounts_.stage_ended(task, stage.source(), outcome, stage.interference(outcome, kernels_),
                        now());
  kernel.contents.stage_ended(stage.request(), outcome, core_.step_options());
  if (options_.log_level >= 3) {
    tell(options_, 3, "%: stage % % in % us %", kernel.state->name(),
         static_cast<int>(outcome.stage), trial_status_name(outcome.status),
         outcome.wall.count() / 1000, outcome.message);
  }
  const bool fault = !killed_by_others(outcome) && is_death(outcome.status);
  if (fault) kernel.device->count_fault();
  if (kernel.runner->poisoned()) core_.end_tuning(kernel, outcome.message);
}

void Flight::gap_ends(bool was_gap) {
  if (flies()) in_flight_->gap_ends(now(), kernels_);
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    // The board may be switched off now, and nothing of the trials runs.
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      task->work.rest();
      if (was_gap && task->blocker == Blocker::gap && task->misses > 0) ++task->misses;
    }
  }
}

// Whether or not they end in time, the device's stages have the gap to themselves.
Nanoseconds Flight::wait_for_stage(TimeSource source, Nanoseconds remaining) const {
  if (in_flight_->request().stage != TrialStage::compile) return remaining;
  return wait_for_compiler(in_flight_->task(), in_flight_->started(), source, remaining);
}

// How long to wait for what a compiler began at `started`, elsewhere. Whoever gave idle time need
// not see it out, unless it will probably end soon enough for what comes next.
Nanoseconds Flight::wait_for_compiler(const ShapeTask& task, Nanoseconds started, TimeSource source,
                                      Nanoseconds remaining) const {
  if (source != TimeSource::idle) return remaining;
  TrialRequest compilation;
  compilation.stage = TrialStage::compile;
  const Nanoseconds left = started + task.search.estimates().predict(compilation, {}) - now();
  return left < remaining ? std::max(left, Nanoseconds{0}) : Nanoseconds{0};
}

void Flight::run_errand(std::function<void()> work) {
  if (builds() || errand_) return work();
  errand_ = true;
  worker_.start(std::move(work));
  if (surroundings_.builds == BuildThread::caller) (void)wait_for_errand(kForever);
}

// A medium may take long.
void Flight::begin_write() {
  while (write_ == nullptr) {
    write_ = journal_.outbox().take();
    if (write_ == nullptr) return;
    files_.start([this] {
      const Nanoseconds start = now();
      write_->run();
      write_took_ = now() - start;
    });
    if (!files_.busy()) end_write();
  }
}

// The longest of late. Where no gap is as long, it is asked for again now and then.
Nanoseconds Flight::sync_takes() const {
  constexpr Nanoseconds kForgotten = std::chrono::minutes(4);
  return now() - longest_sync_at_ < kForgotten ? longest_sync_ : Nanoseconds{0};
}

void Flight::end_write() {
  if (write_ == nullptr) return;
  (void)files_.wait(kForever);
  if (write_took_ >= sync_takes()) {
    longest_sync_ = write_took_;
    longest_sync_at_ = now();
  }
  journal_.outbox().written(std::move(write_));
}

bool Flight::wait_for_errand(Nanoseconds timeout) {
  const Nanoseconds until = now() + timeout;
  if (write_ != nullptr) {
    if (!files_.wait(timeout)) return false;
    end_write();
  }
  if (!errand_) return true;
  if (!worker_.wait(until - now())) return false;
  errand_ = false;
  return true;
}

// Building needs the CPU only (the first launch, on a small shape, holds the device for
// microseconds), so it may outlive the gap.
void Flight::build(std::unique_ptr<Build> build) {
  build->started = now();
  build->handed = core_.hand_over(build->task->trial(build->install.configuration), Where::here);
  build_ = std::move(build);
  worker_.start([this] { build_for_launches(*build_); });
}

// On the worker's thread; nobody else touches `build` or the device meanwhile.
void Flight::build_for_launches(Build& build) const {
  const Nanoseconds before = thread_cpu_time();
  KernelState& kernel = *build.task->kernel.state;
  const Configuration& configuration = build.install.configuration;
  Result<std::unique_ptr<Variant>> variant =
      kernel.build(build.task->slot, configuration, build.install.selection);
  build.status = variant.status();
  if (variant.ok()) {
    const KernelPackage& package = kernel.package();
    const Shape small = small_shape(package, build.task->slot.shape, &configuration);
    build.status =
        warm_up(kernel.device(), package, *(*variant)->programs, small,
                package.plan(small, configuration), configuration, core_.first_launch_deadline());
    if (build.status.ok()) build.variant = std::move(*variant);
  }
  build.processor = thread_cpu_time() - before;
}

Status Flight::launch_once(KernelTask& task, const trial::StepPrograms& programs,
                           const Shape& shape, const Configuration& configuration,
                           std::uint64_t scratch_bytes) {
  KernelState& kernel = *task.state;
  const KernelPackage& package = kernel.package();
  Status launched =
      warm_up(kernel.device(), package, programs, shape, package.plan(shape, configuration),
              configuration, core_.first_launch_deadline(), scratch_bytes);
  if (launched.code() == StatusCode::timeout) core_.end_tuning(task, "a launch never ended");
  if (!launched.ok())
    tell(options_, 1, "%: the first launch failed: %", kernel.name(), launched.message());
  return launched;
}

// So that its code is there. No shape of the application's is known, and no trial need have run it.
void Flight::launch_default_small(KernelTask& kernel) {
  constexpr std::int64_t kSmall = 4096;
  const KernelPackage& package = kernel.state->package();
  Shape shape;
  while (shape.size() < package.dimension_count()) shape.push_back(kSmall);
  while (shape.feature_count() < package.inputs().given_feature_count()) shape.push_feature(0);
  const Configuration& standard = package.default_configuration();
  (void)launch_once(kernel, kernel.state->default_programs(),
                    small_shape(package, shape, &standard), standard, kSmallScratchBytes);
}

std::size_t Flight::launch_known_defaults(KernelTask& kernel, Nanoseconds left) {
  const DeviceInfo& device = kernel.state->device().info();
  const journal::State& state = journal_.state();
  const Configuration& standard = kernel.state->package().default_configuration();
  journal::TrialKey key;
  key.kernel = kernel.state->package().digest();
  key.device = device.device_key();
  key.driver = device.driver_key();
  key.configuration = digest_of(standard);
  std::size_t launched = 0;
  state.for_each_shape_of(key, [&](const journal::Measurement& measurement) {
    const bool runs = measurement.status == TrialStatus::correct &&
                      !state.adoption(measurement.trial.shape_key());
    if (!runs || left.count() <= 0) return;
    const Nanoseconds before = now();
    (void)launch_once(kernel, kernel.state->default_programs(), measurement.trial.shape, standard,
                      options_.scratch_limit_bytes);
    left -= now() - before;
    ++launched;
  });
  return launched;
}

bool Flight::device_is_used(const KernelTask& kernel) const {
  const Device* device = &kernel.state->device();
  if (builds() && &build_->task->kernel.state->device() == device) return true;
  if (!flies()) return false;
  const KernelTask& flying = in_flight_->task().kernel;
  return &flying.state->device() == device && !flying.runner->isolated();
}

// Null: go on.
const char* Flight::why_not(Next next) {
  if (next == Next::does_not_fit) return "the next stage does not fit";
  if (next == Next::forbidden) return "what was to be tried may not run any more";
  if (next == Next::compiled_enough) return "compilations have had their share of processor time";
  return nullptr;
}

std::unique_ptr<StageInFlight> Flight::landed(Nanoseconds wait, TrialOutcome& outcome) {
  if (!flies()) return nullptr;
  ShapeTask& task = in_flight_->task();
  if (!task.kernel.runner->poll(wait, outcome)) return nullptr;
  task.kernel.runner_used = now();
  std::unique_ptr<StageInFlight> stage = std::move(in_flight_);
  if (outcome.wall.count() == 0) outcome.wall = now() - stage->started();
  leave_out_frozen(stage->request(), outcome);
  learn_from(task, *stage, outcome);
  return stage;
}

void Flight::charge_unended() {
  if (!flies()) return;
  ShapeTask& task = in_flight_->task();
  const TrialRequest& request = in_flight_->request();
  TrialOutcome so_far;
  so_far.stage = request.stage;
  so_far.wall = now() - in_flight_->started();
  leave_out_frozen(request, so_far);
  if (request.stage != TrialStage::compile) so_far.device = so_far.wall;
  const Nanoseconds interference = in_flight_->interference(so_far, kernels_);
  so_far.wall = std::min(so_far.wall, core_.predict(task, request));
  accounts_.stage_ended(task, in_flight_->source(), so_far, interference, now());
}

std::unique_ptr<Build> Flight::take_build(Nanoseconds timeout) {
  if (build_ == nullptr || !worker_.wait(timeout)) return nullptr;
  accounts_.build_ended(build_->processor);
  return std::move(build_);
}

}  // namespace idletune::detail
