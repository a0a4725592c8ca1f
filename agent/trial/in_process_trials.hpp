// Trials in this process: for the command line, and for applications that choose it. The weaker
// promise: a configuration that crashes takes the process along (once; the journal's intent record
// quarantines it at the next start), and one that hangs occupies the device for good.
#pragma once

#include <memory>

#include <idletune/result.hpp>

#include "agent/trial/trial.hpp"
#include "agent/trial/trial_executor.hpp"

namespace idletune {

// Stages run on a low-priority thread of ours, and may outlive the gap they were started in.
class InProcessTrials final : public TrialRunner {
 public:
  // The executor's device is used from that thread while a stage runs. Error: out_of_memory when
  // the thread cannot be started.
  static Result<std::unique_ptr<InProcessTrials>> create(std::unique_ptr<TrialExecutor> executor);
  // Waits for a running stage: at most its deadline, or the end of a compilation.
  ~InProcessTrials() override;

  // Errors: busy; device_error once poisoned.
  Status start(const TrialRequest& request) override;
  bool poll(Nanoseconds wait, TrialOutcome& outcome) override;
  bool isolated() const override { return false; }
  bool poisoned() const override;

 private:
  class State;
  explicit InProcessTrials(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace idletune
