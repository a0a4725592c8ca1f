// What AgentOptions::in_process points to.
#pragma once

#include <memory>

#include <idletune/result.hpp>

#include "agent/trial/quirks.hpp"
#include "agent/trial/trial.hpp"
#include "agent/trial/trial_executor_options.hpp"

namespace idletune {

class TrialsInProcess {
 public:
  // Errors: those of InProcessTrials::create.
  virtual Result<std::unique_ptr<TrialRunner>> make(
      Device& device, const std::shared_ptr<const KernelPackage>& package,
      const TrialExecutorOptions& options, const QuirkTable& quirks) const = 0;

 protected:
  ~TrialsInProcess() = default;
};

const TrialsInProcess* trials_in_process();  // for applications: <idletune/in_process.hpp>

}  // namespace idletune
