#include "agent/trial/scratch_runs.hpp"

#include <chrono>
#include <vector>

#include "agent/trial/trial_failure.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::trial {
ScratchRuns::ScratchRuns(Device& device, const KernelPackage& package,
                         const TrialExecutorOptions& options)
    : device_(device),
      package_(package),
      options_(options),
      scratch_(device, package, options.guard_bytes) {}

bool ScratchRuns::fit(const Shape& shape, const Configuration& configuration,
                      TrialOutcome& outcome) {
  const Result<std::uint64_t> device_bytes = scratch_.needed_bytes(shape, configuration);
  if (!device_bytes) {
    return fail_prepare(outcome, TrialStatus::runtime, device_bytes.status().message());
  }
  const std::uint64_t needed = *device_bytes + kCachedReferences * output_bytes(shape);
  if (needed > options_.scratch_limit_bytes) {
    return fail_prepare(outcome, TrialStatus::runtime,
                        joined("the shape needs % bytes of scratch memory, the limit is %", needed,
                               options_.scratch_limit_bytes));
  }
  const Status status = scratch_.fit(shape, configuration, options_.scratch_limit_bytes - needed);
  if (!status.ok()) return fail_prepare(outcome, TrialStatus::runtime, status.message());
  return true;
}

// Host memory of one reference.
std::uint64_t ScratchRuns::output_bytes(const Shape& shape) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < scratch_.count(); ++i) {
    if (scratch_.spec(i).access == Access::in) continue;
    if (scratch_.spec(i).kind != ArgumentKind::buffer) continue;
    const Result<std::uint64_t> bytes =
        package_.buffer_bytes(scratch_.argument(i), shape, package_.reference().configuration());
    if (bytes) total += *bytes;
  }
  return total;
}

bool ScratchRuns::launch(const StepPrograms& programs, Span<const PlannedStep> steps,
                         const TrialRequest& request, const Configuration& configuration,
                         Nanoseconds deadline, TrialOutcome& outcome, Nanoseconds& time) {
  const Result<std::vector<Argument>> arguments =
      scratch_.arguments(request.shape, configuration, request.seed);
  if (!arguments) {
    return fail(outcome, TrialStatus::constraints, arguments.status().message());
  }
  const Result<RunTimes> times = run_steps(device_, programs, steps, *arguments, deadline);
  if (!times) return fail_run(times.status(), deadline, outcome);
  outcome.device += times->device.count() > 0 ? times->device : times->wall;
  // Once the device has told a time, an event without one is a glitch, not a reason to use
  // another clock.
  if (times->device.count() > 0) device_tells_time_ = true;
  time = device_tells_time_ ? times->device : times->wall;
  return true;
}

bool ScratchRuns::fail_run(const Status& status, Nanoseconds deadline, TrialOutcome& outcome) {
  if (status.code() != StatusCode::timeout) {
    return fail(outcome, TrialStatus::runtime, status.message());
  }
  outcome.device += deadline;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(deadline);
  return fail(outcome, TrialStatus::timeout,
              joined("a run outlived its deadline of % ms", milliseconds.count()));
}

}  // namespace idletune::trial
