// Timed runs of variants on scratch buffers, each with its deadline.
#pragma once

#include <cstddef>
#include <cstdint>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>

#include "agent/trial/scratch.hpp"
#include "agent/trial/step_programs.hpp"
#include "agent/trial/trial.hpp"
#include "agent/trial/trial_executor_options.hpp"
#include "models/package/launch_plan.hpp"

namespace idletune::trial {

constexpr std::size_t kCachedReferences = 2;  // the two seeds of a check

// Every step returns false after having described its failure in the outcome. Used by one thread;
// what it refers to must outlive it.
class ScratchRuns {
 public:
  ScratchRuns(Device& device, const KernelPackage& package, const TrialExecutorOptions& options);

  Scratch& scratch() { return scratch_; }

  // Makes the scratch buffers fit, within the limit, in which the outputs of kCachedReferences on
  // the host count too. A failure is one of `prepare`.
  bool fit(const Shape& shape, const Configuration& configuration, TrialOutcome& outcome);

  // One run of steps of `configuration`; what they took in `time`. One that outlives `deadline` is
  // a `timeout`, and may use the buffers for ever.
  bool launch(const StepPrograms& programs, Span<const PlannedStep> steps,
              const TrialRequest& request, const Configuration& configuration, Nanoseconds deadline,
              TrialOutcome& outcome, Nanoseconds& time);

 private:
  std::uint64_t output_bytes(const Shape& shape) const;
  bool fail_run(const Status& status, Nanoseconds deadline, TrialOutcome& outcome);

  Device& device_;
  const KernelPackage& package_;
  const TrialExecutorOptions& options_;
  Scratch scratch_;
  bool device_tells_time_ = false;
};

}  // namespace idletune::trial
