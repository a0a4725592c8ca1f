// Trials that happened before, or never: outcomes come from a record and take their time on a
// scripted clock. Nothing runs.
#pragma once

#include <functional>

#include <idletune/device.hpp>

#include "agent/host/lab/scripted_clock.hpp"
#include "agent/trial/trial.hpp"

namespace idletune {

// How trying one configuration at one shape once went.
struct RecordedTrial {
  TrialStatus status = TrialStatus::correct;
  Nanoseconds run{0};  // device time of one launch
  Nanoseconds compile{0};
};

// What a stage gives where a configuration behaves as recorded; its `wall` is what it takes:
//   compile  the compile time; fails with what a compiler or a limit refused
//   prepare  nothing: records do not say what the reference takes
//   check    one run (it also warms up); other failures show here and cost nothing more, except
//            that a `timeout` costs the deadline of the run
//   measure  runs, each as long as recorded, until one is slower than `stop_above`
TrialOutcome stage_of(const RecordedTrial& trial, const TrialRequest& request);

// A runner whose stages end as `outcomes` says, each after its `wall` time on the clock. Waiting
// for a stage advances the clock; so may whoever else holds it. One thread.
class ReplayedTrials final : public TrialRunner {
 public:
  using Outcomes = std::function<TrialOutcome(const TrialRequest&)>;

  // The clock must outlive it. `isolated`: as of the runner that is played. One that is not is
  // poisoned by a timeout, like every runner in the application's process.
  ReplayedTrials(Outcomes outcomes, ScriptedClock& clock, bool isolated = true);

  // Error: busy while an outcome was not taken; device_error once poisoned.
  Status start(const TrialRequest& request) override;
  bool poll(Nanoseconds wait, TrialOutcome& outcome) override;
  bool isolated() const override { return isolated_; }
  bool poisoned() const override { return poisoned_; }

 private:
  Outcomes outcomes_;
  ScriptedClock& clock_;
  const bool isolated_;
  bool poisoned_ = false;
  bool running_ = false;
  Nanoseconds end_{0};  // of the stage that runs
  TrialOutcome outcome_;
};

}  // namespace idletune
