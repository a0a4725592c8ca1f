// The helper's side of the protocol: receives, lets somebody else run the stages, answers.
#pragma once

#include <idletune/result.hpp>

#include "agent/trial/trial_wire.hpp"
#include "platform/os/process.hpp"

namespace idletune {

// Who runs the stages. One thread.
class StageServer {
 public:
  virtual ~StageServer() = default;
  // The application's first message; again when it wants another device or package. Why not is
  // what the application is told.
  virtual Status set_up(wire::Setup setup) = 0;
  // After a successful set_up() only.
  virtual TrialOutcome run(const TrialRequest& request) = 0;
  // True once no further stage can run in this process: it leaves after the answer.
  virtual bool poisoned() const = 0;
};

// Talks until the application is gone or talks nonsense, and then ends the process, without exit
// handlers: drivers with a hung run do not survive those. Exit codes: helper_exit.hpp.
[[noreturn]] void serve_trials(Channel channel, StageServer& server);

}  // namespace idletune
