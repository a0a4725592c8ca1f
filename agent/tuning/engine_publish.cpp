// From an accepted configuration to the launches that run it, and back.
#include <utility>

#include <idletune/text.hpp>

#include "agent/trial/warm_up.hpp"
#include "agent/tuning/tuning_engine.hpp"
#include "platform/os/thread.hpp"

namespace idletune::detail {

void TuningEngine::install(ShapeTask& task, const Install& install) {
  task.work.emplace<Installing>();
  build({&task, install});
}

// Building needs the CPU only (the first launch, on a small shape, holds the device for
// microseconds), so it may outlive the gap.
void TuningEngine::build(Build build) {
  build.started = now();
  build_.emplace(std::move(build));
  worker_.start([this] { build_for_launches(*build_); });
  if (surroundings_.builds == BuildThread::caller) finish_build();
}

// On the worker's thread; nobody else touches `build` or the device meanwhile.
void TuningEngine::build_for_launches(Build& build) const {
  const Nanoseconds before = thread_cpu_time();
  compile_for_launches(build);
  build.processor = thread_cpu_time() - before;
}

void TuningEngine::compile_for_launches(Build& build) const {
  KernelState& kernel = *build.task->kernel.state;
  const Configuration& configuration = build.install.configuration;
  Result<std::unique_ptr<Variant>> variant =
      kernel.build(build.task->slot, configuration, build.install.selection);
  build.status = variant.status();
  if (!variant.ok()) return;
  const KernelPackage& package = kernel.package();
  const Shape small = small_shape(package, build.task->slot.shape, &configuration);
  build.status =
      warm_up(kernel.device(), package, *(*variant)->programs, small,
              package.plan(small, configuration), configuration, first_launch_deadline());
  if (build.status.ok()) build.variant = std::move(*variant);
}

bool TuningEngine::wait_for_build(Nanoseconds timeout) {
  if (!worker_.wait(timeout)) return false;
  finish_build();
  return true;
}

void TuningEngine::finish_build() {
  if (!build_) return;
  Build build = std::move(*build_);
  build_.reset();
  accounts_.build_ended(build.processor);
  ShapeTask& task = *build.task;
  if (build.variant == nullptr) return build_failed(build);
  task.work.emplace<Resting>();
  if (build.candidate == nullptr) return adopt(task, build.install, std::move(build.variant));
  if (task.race == nullptr) {
    task.race.reset(new Race{InPlaceRace(step_options(), task.kernel.in_place.max_slowdown), {}});
  }
  Race& race = *task.race;
  // From here on it runs in the application's own launches.
  build.candidate->journaled.begin(TrialStage::measure, false);
  race.times.join(build.candidate->plan.ratio());
  race.trials[task.variants.racers()] = std::move(build.candidate);
  task.variants.offer(std::move(build.variant));
  task.variants.race(race.times.turns());
}

void TuningEngine::adopt(ShapeTask& task, const Install& install,
                         std::unique_ptr<Variant> variant) {
  task.setup_time = install.setup;
  // What was adopted had passed its checks at this shape.
  note_check(task.kernel, install.configuration, task.slot.shape, true);
  publish(task, std::move(variant), install.time);
  if (install.recalled) return;
  task.least_saving += install.least_gain;
  task.compared_at = now();
  journal::Adoption adoption;
  adoption.trial = task.identity;
  adoption.trial.configuration = install.configuration;
  adoption.expected = install.time;
  adoption.default_time = task.default_time;
  adoption.checked_seeds = 2;
  journal_.adopted(adoption);
}

void TuningEngine::build_failed(const Build& build) {
  ShapeTask& task = *build.task;
  log(1, {task.kernel.state->name(),
          ": an accepted configuration does not build for launches: ", build.status.message()});
  if (build.status.code() == StatusCode::timeout) end_tuning(task.kernel, "a launch never ended");
  task.work.emplace<Resting>();
  if (build.candidate == nullptr) return;
  TryingCandidate& candidate = *build.candidate;
  StepResult result = StepResult::of(candidate.proposal, candidate.plan);
  result.verdict = TrialVerdict::reject_failed;
  result.status = TrialStatus::compile;
  end_trial(task, result, candidate.journaled);
}

// What an earlier session adopted for a shape that was launched for the first time is built before
// anything is searched. True if there was such a shape.
bool TuningEngine::recall_one() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (!task->recalled) continue;
      install(*task, *std::exchange(task->recalled, std::nullopt));
      return true;
    }
  }
  return false;
}

void TuningEngine::publish_recalled(ShapeTask& task) {
  if (!task.recalled) return;
  release_device();
  Build build{&task, *std::exchange(task.recalled, std::nullopt)};
  build_for_launches(build);
  task.work.emplace<Installing>();
  build_.emplace(std::move(build));
  finish_build();
}

void TuningEngine::launch_ahead(ShapeTask& task) {
  const Variant& running = task.variants.running();
  // Without a time nobody knows yet that it runs on data of ours without harm.
  if (task.launched_ahead == &running || task.default_time.count() == 0) return;
  release_device();
  launch_once(task.kernel, *running.programs, task.slot.shape, running.configuration,
              options_.scratch_limit_bytes);
  task.launched_ahead = &running;
}

// So that its code is there. No shape of the application's is known, and no trial need have run it.
void TuningEngine::launch_default_small(KernelTask& kernel) {
  constexpr std::int64_t kSmall = 4096;
  const KernelPackage& package = kernel.state->package();
  Shape shape;
  while (shape.size() < package.dimension_count()) shape.push_back(kSmall);
  while (shape.feature_count() < package.given_feature_count()) shape.push_feature(0);
  const Configuration& standard = package.default_configuration();
  launch_once(kernel, kernel.state->default_programs(), small_shape(package, shape, &standard),
              standard, kSmallScratchBytes);
}

void TuningEngine::launch_once(KernelTask& task, const trial::StepPrograms& programs,
                               const Shape& shape, const Configuration& configuration,
                               std::uint64_t scratch_bytes) {
  KernelState& kernel = *task.state;
  const KernelPackage& package = kernel.package();
  const Status launched =
      warm_up(kernel.device(), package, programs, shape, package.plan(shape, configuration),
              configuration, first_launch_deadline(), scratch_bytes);
  if (launched.code() == StatusCode::timeout) end_tuning(task, "a launch never ended");
  if (!launched.ok()) log(1, {kernel.name(), ": the first launch failed: ", launched.message()});
}

void TuningEngine::publish(ShapeTask& task, std::unique_ptr<Variant> variant, Nanoseconds time) {
  accounts_.credit_launches(task, now());  // at the old time
  task.variants.publish(std::move(variant));
  task.running_time = time;
  task.production.clear();
  task.watch = ProductionWatch(task.default_time, time);
  if (!task.kernel.state->profiling_available()) task.watch.profiling_unavailable();
  task.credited_unprepared = 0;
  if (task.race != nullptr) task.race->times.restart();
  allow_setup(task);
  offer_for_classes(task.kernel);
}

void TuningEngine::demote(ShapeTask& task, const char* why) {
  log(2, {task.kernel.state->name(), ": back to the default, ", why});
  journal_.demoted(task.identity.shape_key());
  publish(task, nullptr, task.default_time);
  task.least_saving = Nanoseconds{0};
}

}  // namespace idletune::detail
