// Runs the stages of trials on a device: compile, prepare, check, measure. The one place where a
// candidate's output is judged.
#pragma once

#include <memory>

#include <idletune/device.hpp>

#include "agent/trial/quirks.hpp"
#include "agent/trial/trial.hpp"
#include "agent/trial/trial_executor_options.hpp"
#include "models/package/package_specs.hpp"

namespace idletune {

// Used by one thread at a time, and it may use `device` during run() only: see Device for what else
// may happen on the device meanwhile.
//
// What a check promises: the candidate ran on inputs that were freshly written, with every output
// poisoned beforehand (a NaN pattern for floating point; `inout` buffers get their inputs); every
// element of every output agrees with the reference within the package's tolerance, NaN and
// infinity only with the same; elements that the reference leaves alone are left alone; inputs and
// the guard zones before (where the device has windows) and behind every buffer are unchanged.
class TrialExecutor {
 public:
  // `device` must outlive the executor.
  TrialExecutor(Device& device, std::shared_ptr<const KernelPackage> package,
                TrialExecutorOptions options = {}, QuirkTable quirks = QuirkTable());
  ~TrialExecutor();
  TrialExecutor(const TrialExecutor&) = delete;
  TrialExecutor& operator=(const TrialExecutor&) = delete;

  // Runs one stage to its end. check and measure bring along what they need: a missing compile or
  // prepare is made up for, and if that fails, outcome.stage names the stage that failed. A failed
  // `prepare` says nothing about the candidate.
  TrialOutcome run(const TrialRequest& request);
  // True after a run outlived its deadline, or spoilt the device for this process
  // (Device::usable()). From then on every outcome is `runtime`; what a run may still be using is
  // never freed.
  bool poisoned() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace idletune
