// What happens in one call of run().
#include "agent/tuning/tuning_engine.hpp"

#include <algorithm>

#include <idletune/text.hpp>

namespace idletune::detail {
namespace {

constexpr Nanoseconds kForever = std::chrono::hours(24);

}  // namespace

TuningEngine::TuningEngine(const AgentOptions& options, journal::Journal& journal,
                           const Surroundings& surroundings)
    : options_(options),
      journal_(journal),
      surroundings_(surroundings),
      accounts_(options, journal.state().ledger(), surroundings.clock->now()),
      worker_(surroundings.builds),
      keeping_(how_journal_is(journal).code()) {
  journal_.defer_syncs();
}

TuningEngine::~TuningEngine() {
  release_device();
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    // A helper is killed, whatever it is doing; a stage in this process is waited for.
    kernel->runner.reset();
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      drain_tickets(*task);
      // Nothing of an unfinished trial runs any more: this end must not look like a death.
      if (JournaledTrial* unfinished = journaled(task->work)) unfinished->ended();
      for (std::size_t i = 0; i < task->variants.racers(); ++i) {
        task->race->trials[i]->journaled.ended();
      }
    }
  }
}

void TuningEngine::release_device() {
  if (build_) (void)wait_for_build(kForever);
  (void)wait_for_errand(kForever);
  IdleReport ignored;
  if (in_flight_ && !in_flight_->task().kernel.runner->isolated()) {
    (void)finish_stage(kForever, ignored);
  }
}

IdleReport TuningEngine::run(Nanoseconds budget, TimeSource source, ShapeTask* only) {
  IdleReport report;
  held_back_ = Blocker::none;
  housekeeping();
  if (kernels_.empty()) {
    report.why = "no kernel is loaded";
    return report;
  }
  gap_needed_ = Nanoseconds{0};
  const Nanoseconds start = now();
  bool renewed = false;
  for (;;) {
    const Nanoseconds remaining = budget - (now() - start);
    if (remaining.count() <= 0) {
      report.waiting = in_flight_ || build_;
      report.why = "the budget is used up";
      break;
    }
    if (errand_) {
      if (wait_for_errand(remaining)) continue;
      report.waiting = true;
      report.why = "the journal is being written";
      break;
    }
    // The build uses the application's device object, so nothing else of ours may do so meanwhile;
    // and what a stage leads to may be another build.
    if (build_ &&
        !wait_for_build(wait_for_compiler(*build_->task, build_->started, source, remaining))) {
      report.waiting = true;
      report.why = "an adopted configuration is being built";
      break;
    }
    if (in_flight_ && !finish_stage(wait_for_stage(source, budget - (now() - start)), report)) {
      report.waiting = true;
      report.why = "a stage is still running";
      break;
    }
    begin_sync();
    if (build_ || errand_) continue;
    if (recall_one()) continue;
    renewed = renewed || renew_one(only);
    if (retrain(budget - (now() - start))) continue;
    ShapeTask* task = choose(source, only);
    if (task == nullptr) {
      report.waiting = launches_are_timed();
      report.why = ended_everywhere()     ? "tuning has ended for this process"
                   : helpers_rest(source) ? "somebody killed the helper; it is started again later"
                                          : why_nothing();
      break;
    }
    report.why = why_not(start_stage(*task, source, budget - (now() - start), report));
    if (report.why != nullptr) break;
  }
  report.used = now() - start;
  gap_ends();
  housekeeping();
  begin_sync();
  return report;
}

void TuningEngine::run_errand(std::function<void()> work) {
  if (!worker_rests()) return work();
  errand_ = true;
  worker_.start(std::move(work));
  if (surroundings_.builds == BuildThread::caller) (void)wait_for_errand(kForever);
}

// A medium may take long.
void TuningEngine::begin_sync() {
  if (!worker_rests()) return;
  std::shared_ptr<AppendFile> file = journal_.take_due_sync();
  if (file == nullptr) return;
  synced_ = std::move(file);
  run_errand([this] { sync_status_ = synced_->sync(); });
}

bool TuningEngine::wait_for_errand(Nanoseconds timeout) {
  if (!errand_) return true;
  if (!worker_.wait(timeout)) return false;
  errand_ = false;
  if (synced_ == nullptr) return true;
  journal_.sync_ended(synced_, std::move(sync_status_));
  synced_ = nullptr;
  return true;
}

// Null: go on.
const char* TuningEngine::why_not(Next next) {
  if (next == Next::does_not_fit) return "the next stage does not fit";
  if (next == Next::compiled_enough) return "compilations have had their share of processor time";
  return nullptr;
}

// Whether or not they end in time, the device's stages have the gap to themselves.
Nanoseconds TuningEngine::wait_for_stage(TimeSource source, Nanoseconds remaining) const {
  if (in_flight_->request().stage != TrialStage::compile) return remaining;
  return wait_for_compiler(in_flight_->task(), in_flight_->started(), source, remaining);
}

// How long to wait for what a compiler began at `started`, elsewhere. Whoever gave idle time need
// not see it out, unless it will probably end soon enough for what comes next.
Nanoseconds TuningEngine::wait_for_compiler(const ShapeTask& task, Nanoseconds started,
                                            TimeSource source, Nanoseconds remaining) const {
  if (source != TimeSource::idle) return remaining;
  TrialRequest compilation;
  compilation.stage = TrialStage::compile;
  const Nanoseconds left = started + task.search.estimates().predict(compilation, {}) - now();
  return left < remaining ? std::max(left, Nanoseconds{0}) : Nanoseconds{0};
}

void TuningEngine::hold_back(Blocker blocker, std::string_view why) {
  held_back_ = blocker;
  held_back_why_ = why;
  notice_new_shapes();
}

// The caller's gap is over, with a stage or a trial half done.
void TuningEngine::gap_ends() {
  if (in_flight_) in_flight_->gap_ends(now(), kernels_);
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      // The board may be switched off now, and nothing of the trial runs.
      if (JournaledTrial* unfinished = journaled(task->work)) unfinished->rest();
    }
  }
}

bool TuningEngine::launches_are_timed() const {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (task->race != nullptr) return true;
    }
  }
  return false;
}

// Whether a build or a stage of ours uses the application's device object from another thread.
bool TuningEngine::device_is_used(const KernelTask& kernel) const {
  const Device* device = &kernel.state->device();
  if (build_ && &build_->task->kernel.state->device() == device) return true;
  if (!in_flight_) return false;
  const KernelTask& flying = in_flight_->task().kernel;
  return &flying.state->device() == device && !flying.runner->isolated();
}

DeviceTask& TuningEngine::device_task(const Device& device) {
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

// After somebody killed the helper, only what the user grants is spent on the next one at once.
bool TuningEngine::may_tune(const KernelTask& kernel, TimeSource source) const {
  return kernel.can_tune() && (source == TimeSource::foreground || !kernel.device->rests(now()));
}

bool TuningEngine::helpers_rest(TimeSource source) const {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (kernel->can_tune() && !may_tune(*kernel, source)) return true;
  }
  return false;
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
      accounts_.credit_launches(*task, now());
      watch_production(*task);
      allow_setup(*task);
      task->variants.reclaim();
    }
    if (!device_is_used(*kernel)) recycle(*kernel);
  }
  note(false);
}

void TuningEngine::log(int level, TextPieces message) const {
  if (options_.log != nullptr && level <= options_.log_level) {
    options_.log(options_.log_user, level, joined(message).c_str());
  }
}

}  // namespace idletune::detail
