// A thread that runs one stage at a time for somebody who only looks in now and then.
#pragma once

#include <functional>
#include <memory>

#include <idletune/result.hpp>

#include "agent/trial/trial.hpp"

namespace idletune::trial {

// start() and poll() from one thread.
class StageThread {
 public:
  using Body = std::function<TrialOutcome(const TrialRequest&)>;
  // `body` runs on a low-priority thread of its own. Error: out_of_memory.
  static Result<std::unique_ptr<StageThread>> create(const char* name, Body body);
  ~StageThread();  // waits for a running stage

  Status start(const TrialRequest& request);  // busy while an outcome has not been taken
  // As TrialRunner::poll.
  bool poll(Nanoseconds wait, TrialOutcome& outcome);
  bool runs() const;
  // Waits until no stage runs; its outcome stays to be taken.
  void wait_until_idle();

 private:
  struct State;
  explicit StageThread(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace idletune::trial
