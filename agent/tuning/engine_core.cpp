#include "agent/tuning/engine_core.hpp"

#include <algorithm>

#include "agent/scheduler/decision_terms.hpp"
#include "models/core/digest.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {

EngineCore::EngineCore(const AgentOptions& agent_options, journal::Journal& agent_journal,
                       const Surroundings& found)
    : options_(agent_options),
      journal_(agent_journal),
      surroundings_(found),
      facts_(agent_journal, found.quirks),
      accounts_(agent_options, agent_journal.state().ledger(), found.clock->now()) {}

StepOptions EngineCore::step_options() const {
  StepOptions step;
  step.margin = options_.adoption_margin;
  step.shortest_deadline = options_.run_deadline;
  return step;
}

DeviceTask& EngineCore::device_task(const Device& device) {
  for (const std::unique_ptr<DeviceTask>& task : devices_) {
    if (task->is(device)) return *task;
  }
  devices_.push_back(std::make_unique<DeviceTask>(device, now()));
  return *devices_.back();
}

// For all kernels of the kernel's device; what other devices do is not concerned.
void EngineCore::end_tuning(KernelTask& kernel, const std::string& why) {
  if (kernel.device->ended()) return;
  kernel.device->end(joined("tuning ended on %: %", kernel.state->device().info().name, why));
  tell(options_, 1, "%", kernel.device->ended_why());
}

bool EngineCore::ended_everywhere() const {
  for (const std::unique_ptr<DeviceTask>& device : devices_) {
    if (!device->ended()) return false;
  }
  return !devices_.empty();
}

// After somebody killed the helper, only what the user grants is spent on the next one at once.
bool EngineCore::may_tune(const KernelTask& kernel, TimeSource source) const {
  return kernel.can_tune() && (source == TimeSource::foreground || !kernel.device->rests(now()));
}

bool EngineCore::helpers_rest(TimeSource source) const {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (kernel->can_tune() && !may_tune(*kernel, source)) return true;
  }
  return false;
}

// A launch of the application's own may have spoilt its device.
void EngineCore::notice_lost_devices() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (const Status usable = kernel->state->device().usable(); !usable.ok()) {
      kernel->device->lose();
      end_tuning(*kernel, usable.message());
    }
  }
}

KernelTask* EngineCore::task_of(const KernelState& state) const {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (kernel->state.get() == &state) return kernel.get();
  }
  return nullptr;
}

double EngineCore::expected_launches(const ShapeTask& task) const {
  const double launches = static_cast<double>(task.launches());
  const double to_come =
      task.said_launches >= 0
          ? task.said_launches - (launches - static_cast<double>(task.said_at))
          : options_.unknown_horizon * (launches + static_cast<double>(task.past_launches));
  return std::clamp(to_come, 0.0, amortization::kMaxLaunches);
}

void tell_pieces(const AgentOptions& options, PieceKinds kinds_and_level, const char* form, ...) {
  const int level = static_cast<int>(kinds_and_level) & 15;
  if (options.log == nullptr || level > options.log_level) return;
  std::va_list words;
  va_start(words, form);
  options.log(options.log_user, level, pieces::joined_list(kinds_and_level, form, words).c_str());
  va_end(words);
}

StageContext EngineCore::stage_context(const ShapeTask& task) const {
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

// Of the stage that is next.
StageContext EngineCore::stage_context(const ShapeTask& task, const TrialRequest& request) const {
  StageContext context = stage_context(task);
  context.own_run = request.configuration == task.running() ? task.running_time
                    : task.work.is(Work::rechecking)        ? task.default_time
                    : task.work.tried != nullptr            ? task.work.tried->plan.next_run()
                                                            : Nanoseconds{0};
  return context;
}

Nanoseconds EngineCore::predict(const ShapeTask& task, const TrialRequest& request) const {
  const StageEstimates& estimates = task.search.estimates();
  return estimates.relaxed(request.stage, estimates.predict(request, stage_context(task, request)),
                           task.misses);
}

CandidateContext EngineCore::candidate_context(const ShapeTask& task,
                                               const Configuration& candidate,
                                               const Configuration& incumbent) const {
  const RunnerContents& contents = task.kernel.contents;
  CandidateContext context;
  context.shape = task.slot.shape;
  context.candidate = candidate;
  context.incumbent = incumbent;
  context.candidate_compiled = contents.compiled(candidate);
  context.incumbent_compiled = contents.compiled(incumbent);
  context.prepared = contents.prepared(task.slot.shape);
  context.checked_for_class = facts_.passed_in_class(task.facts(), candidate, task.slot.shape);
  return context;
}

HandedOver EngineCore::hand_over(const journal::Trial& trial, Where place) const {
  static_assert(static_cast<int>(LaunchTrace::Place::launches) ==
                static_cast<int>(Where::launches));
  return {surroundings_.trace, static_cast<LaunchTrace::Place>(place), trial.who(),
          digest_of(trial.shape), now()};
}

std::string EngineCore::capture_path(const KernelState& kernel, const Shape& shape) const {
  return joined("%/captures/%-%.itcapture", options_.state, kernel.name(),
                digest_of(shape) ^ kernel.package().digest() ^ kernel.device().info().device_key());
}

}  // namespace idletune::detail
