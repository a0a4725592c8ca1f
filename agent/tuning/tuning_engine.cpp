#include "agent/tuning/tuning_engine.hpp"

#include <algorithm>
#include <utility>

#include <idletune/text.hpp>

#include "models/core/scalar.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

// After that nothing more is launched at a kernel's start; how long builds take does not count.
constexpr Nanoseconds kLaunchesAtStart = std::chrono::milliseconds(250);

// Whether nothing that a launch reads, addresses for instance, is an integer that the application
// passes: then data of any kind lead no kernel astray that the application's do not.
bool takes_floats_only(const KernelPackage& package) {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    const bool given = spec.kind == ArgumentKind::buffer || spec.kind == ArgumentKind::scalar;
    if (given && is_integer(spec.type)) return false;
  }
  return true;
}

}  // namespace

TuningEngine::TuningEngine(const AgentOptions& options, journal::Journal& journal,
                           const Surroundings& surroundings)
    : core_(options, journal, surroundings),
      knowledge_(core_),
      publisher_(core_, knowledge_),
      flight_(core_),
      shapes_(core_, knowledge_, flight_),
      steps_(core_, knowledge_, shapes_, publisher_, flight_),
      production_(core_, publisher_, steps_),
      choice_(core_, knowledge_, flight_),
      explanation_(core_, choice_, held_back_),
      keeping_(how_journal_is(journal).code()) {
  journal.outbox().defer();
}

TuningEngine::~TuningEngine() {
  steps_.release_device();
  IdleReport ignored;
  (void)steps_.finish_stage(Nanoseconds{0}, ignored);  // nobody has asked since it ended
  flight_.charge_unended();
  for (const std::unique_ptr<KernelTask>& kernel : core_.kernels_) {
    // A helper is killed, whatever it is doing; a stage in this process is waited for.
    kernel->runner.reset();
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      production_.drain_tickets(*task);
      core_.accounts_.credit_launches(*task, core_.now());
      // Nothing of an unfinished trial runs any more: this end must not look like a death.
      task->work.end();
      for (const Unproven& each : task->unproven)
        core_.journal_.parked(each.trial, Where::launches);
    }
  }
  core_.journal_.note_ledger(core_.accounts_.to_keep(), core_.now());
}

// Null: nothing is under way any more. Else why the caller need not wait longer.
const char* TuningEngine::wait_for_what_flies(TimeSource source, Nanoseconds remaining,
                                              IdleReport& report) {
  const Nanoseconds until = core_.now() + remaining;
  report.waiting = true;
  // The build uses the application's device object, so nothing else of ours may do so meanwhile;
  // and what a stage leads to may be another build.
  if (flight_.builds() && !steps_.wait_for_build(flight_.wait_for_compiler(
                              *flight_.built().task, flight_.built().started, source, remaining))) {
    return "an adopted configuration is being built";
  }
  if (flight_.flies() &&
      !steps_.finish_stage(flight_.wait_for_stage(source, until - core_.now()), report)) {
    return "a stage is still running";
  }
  report.waiting = false;
  return nullptr;
}

IdleReport TuningEngine::run(Nanoseconds budget, TimeSource source, ShapeTask* only) {
  IdleReport report;
  held_back_ = {};
  housekeeping();
  if (core_.kernels_.empty()) {
    report.why = "no kernel is loaded";
    return report;
  }
  core_.gap_needed_ = Nanoseconds{0};
  ++core_.runs_;
  const Nanoseconds start = core_.now();
  for (;;) {
    const Nanoseconds remaining = budget - (core_.now() - start);
    if (remaining.count() <= 0) {
      report.waiting = flight_.flies() || !flight_.worker_rests();
      report.why = "the budget is used up";
      break;
    }
    if (flight_.errands()) {
      if (flight_.wait_for_errand(remaining)) continue;
      report.waiting = true;
      report.why = "the journal is being written";
      break;
    }
    report.why = wait_for_what_flies(source, budget - (core_.now() - start), report);
    follow_facts();  // before anything takes time
    if (report.why != nullptr) break;
    flight_.begin_write();
    if (!flight_.worker_rests()) continue;
    if (steps_.begin_build() || steps_.recall_one()) continue;
    if (knowledge_.renew_one(only)) continue;
    if (knowledge_.retrain(budget - (core_.now() - start))) continue;
    ShapeTask* task = choice_.choose(source, only);
    if (task == nullptr) {
      report.waiting = production_.launches_are_timed();
      report.why = core_.ended_everywhere() ? "tuning has ended for this process"
                   : core_.helpers_rest(source)
                       ? "somebody killed the helper; it is started again later"
                       : explanation_.why_nothing();
      break;
    }
    const Flight::Next next =
        flight_.start_stage(*task, source, budget - (core_.now() - start), report);
    if (next == Flight::Next::forbidden && steps_.shelve(*task)) continue;
    if (next == Flight::Next::does_not_fit && choice_.pass_over(*task)) continue;
    report.why = Flight::why_not(next);
    if (report.why != nullptr) break;
  }
  report.used = core_.now() - start;
  flight_.gap_ends(budget.count() > 0);
  housekeeping();
  // What was acquitted comes back where no gap comes, too.
  if (!steps_.begin_build()) (void)steps_.recall_one();
  flight_.begin_write();
  flight_.look_after_runners();
  return report;
}

void TuningEngine::hold_back(Blocker blocker, std::string_view why) {
  held_back_ = {blocker, why};
  shapes_.notice_new_shapes();
}

void TuningEngine::call_failed(ShapeTask& task, const Configuration& configuration,
                               const Measurement& measurement) {
  const TaskLease lease(task);
  production_.drain_tickets(task);
  production_.call_failed(task, configuration, measurement);
  follow_facts();
}

// What launches run follows what may run, in one place.
void TuningEngine::follow_facts() {
  for (const std::unique_ptr<KernelTask>& kernel : core_.kernels_) {
    if (kernel->facts_followed == core_.facts_.version()) continue;
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      production_.withdraw_racers(*task);
    }
    publisher_.republish(*kernel);
  }
}

void TuningEngine::housekeeping() {
  core_.notice_lost_devices();
  shapes_.notice_new_shapes();
  follow_facts();
  for (const std::unique_ptr<KernelTask>& kernel : core_.kernels_) {
    kernel->state->look_at_trace();
    publisher_.offer_what_is_kept(*kernel);
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      production_.drain_tickets(*task);
      core_.accounts_.credit_launches(*task, core_.now());
      production_.watch_production(*task);
      publisher_.allow_setup(*task);
      task->variants.look_at_retired(core_.now());
      if (!flight_.device_is_used(*kernel)) task->variants.reclaim();
      if (std::exchange(task->shelve_due, false)) steps_.shelve_trial(*task);
    }
    production_.audit_classes(*kernel);
    if (!flight_.device_is_used(*kernel)) shapes_.recycle(*kernel);
  }
  follow_facts();
  note(false);
}

KernelTask& TuningEngine::add_kernel(std::unique_ptr<KernelState> state,
                                     const std::shared_ptr<const Model>& model) {
  auto owned = std::make_unique<KernelTask>();
  KernelTask& kernel = *owned;
  kernel.state = std::move(state);
  kernel.device = &core_.device_task(kernel.state->device());
  kernel.runner_status = core_.surroundings_.trials;
  kernel.state->trace_launches(core_.surroundings_.trace, core_.surroundings_.clock,
                               kernel.facts().trial({}, {}).subject());
  core_.kernels_.push_back(std::move(owned));
  const KernelPackage& package = kernel.state->package();
  knowledge_.take_model(kernel, model);
  if (core_.options_.learner != nullptr && core_.options_.mode == Mode::tune) {
    kernel.retrainer.reset(core_.options_.learner->retrainer(core_.journal_.state(), kernel,
                                                             *core_.surroundings_.clock));
  }
  std::size_t launched = 0;
  if (core_.options_.mode != Mode::off) {
    knowledge_.record_names(package, kernel.state->device().info());
    core_.facts_.learn(kernel.facts());
    kernel.state->classes().compare(true);
    Nanoseconds left = kLaunchesAtStart;
    launched = steps_.publish_adopted(kernel, left);
    launched += flight_.launch_known_defaults(kernel, left);
  }
  if (launched == 0 && takes_floats_only(package)) flight_.launch_default_small(kernel);
  follow_facts();
  return kernel;
}

void TuningEngine::note(bool write_now) {
  const Nanoseconds time = core_.now();
  for (const std::unique_ptr<KernelTask>& kernel : core_.kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      core_.accounts_.credit_launches(*task, time);
      shapes_.note_shape(*task, time);
    }
  }
  core_.journal_.note_ledger(core_.accounts_.to_keep(), time);
  core_.journal_.retry_storage(time);
  if (write_now) {
    flight_.end_write();
    (void)core_.journal_.flush();
  }
  // Once per change, not once per attempt.
  const Status keeping = how_journal_is(core_.journal_);
  if (keeping.code() != keeping_) tell(core_.options_, 1, "the journal: %", keeping.to_string());
  keeping_ = keeping.code();
}

}  // namespace idletune::detail
