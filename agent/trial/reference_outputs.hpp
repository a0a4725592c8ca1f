// What the reference computes: the truth that candidates are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/trial/scratch.hpp"
#include "agent/trial/scratch_runs.hpp"
#include "agent/trial/trial.hpp"
#include "agent/trial/trial_executor_options.hpp"
#include "models/package/launch_plan.hpp"

namespace idletune::trial {

// What the reference computed for one seed: one entry per buffer, empty for inputs.
struct Reference {
  std::uint32_t seed = 0;
  std::uint64_t last_use = 0;
  std::vector<HostBytes> outputs;
};

// The reference's program, and its outputs for the last seeds at one shape. Used by one thread;
// what it refers to must outlive it.
class ReferenceOutputs {
 public:
  ReferenceOutputs(Device& device, const KernelPackage& package,
                   const TrialExecutorOptions& options, ScratchRuns& runs);

  // The reference's outputs for the request's shape and seed, valid until the next call; null after
  // having described the failure in `outcome`, as one of `prepare`. Runs on the scratch buffers.
  // Whoever changes the shape calls forget() first.
  const Reference* get(const TrialRequest& request, TrialOutcome& outcome);

  // With its code generated for problems like `shape`, if that was not done. False after having
  // described the failure in `outcome`, as one of `prepare`. Done along with the first variant's
  // compilation, so that `prepare` finds it ready; a failure there is reported by `prepare`, which
  // tries again.
  bool compile(const Shape& shape, TrialOutcome& outcome);

  void forget() { references_.clear(); }  // outputs
  void release();                         // outputs and the program

 private:
  bool make(const TrialRequest& request, TrialOutcome& outcome, Reference& made);
  bool run(const TrialRequest& request, TrialOutcome& outcome);
  bool launch(const TrialRequest& request, const LaunchPlan& plan, TrialOutcome& outcome);
  bool keep(std::uint32_t seed, TrialOutcome& outcome, Reference& made);
  Status read(std::size_t buffer, std::uint32_t seed, HostBytes& bytes, bool& changed);

  Device& device_;
  const KernelPackage& package_;
  const TrialExecutorOptions& options_;
  ScratchRuns& runs_;
  StepPrograms programs_;
  bool ran_ = false;
  std::vector<Reference> references_;
  std::uint64_t clock_ = 0;  // counts uses
};

}  // namespace idletune::trial
