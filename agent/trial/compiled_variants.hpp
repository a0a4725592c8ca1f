// The variants of one package that are compiled and kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/trial/quirks.hpp"
#include "agent/trial/step_programs.hpp"
#include "agent/trial/trial.hpp"
#include "agent/trial/trial_executor_options.hpp"
#include "models/package/launch_plan.hpp"

namespace idletune::trial {

struct CompiledVariant {
  Configuration configuration;
  StepPrograms programs;
  std::uint64_t last_use = 0;
  bool ran = false;  // at any shape: its first run's code generation is over
  Shape warm_shape;  // the shape it ran at last
};

// Used by one thread. What it refers to must outlive it.
class CompiledVariants {
 public:
  CompiledVariants(Device& device, const KernelPackage& package,
                   const TrialExecutorOptions& options, QuirkTable quirks);

  // The compiled variant of the request's configuration, and its plan at the request's shape in
  // `plan`. Null after having described its failure in `outcome`; valid until the next call. A
  // stage `compile` also lets the driver generate code; if that outlives its deadline, the status
  // is `timeout`.
  CompiledVariant* get(const TrialRequest& request, LaunchPlan& plan, TrialOutcome& outcome);
  void clear() { variants_.clear(); }

 private:
  CompiledVariant* find(const Configuration& configuration);
  CompiledVariant* compile(const Configuration& configuration, TrialOutcome& outcome);
  bool generate_code(const TrialRequest& request, CompiledVariant& variant, TrialOutcome& outcome);

  Device& device_;
  const KernelPackage& package_;
  const TrialExecutorOptions& options_;
  QuirkTable quirks_;
  std::vector<CompiledVariant> variants_;
  std::uint64_t clock_ = 0;  // counts uses
};

}  // namespace idletune::trial
