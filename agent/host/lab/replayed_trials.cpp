#include "agent/host/lab/replayed_trials.hpp"

#include <algorithm>
#include <utility>

namespace idletune {
namespace {

bool fails_to_compile(TrialStatus status) {
  return status == TrialStatus::compile || status == TrialStatus::constraints;
}

void run_once(const RecordedTrial& trial, TrialOutcome& outcome) {
  outcome.device += trial.run;
  outcome.wall += trial.run;
}

void measure(const RecordedTrial& trial, const TrialRequest& request, TrialOutcome& outcome) {
  for (std::uint32_t run = 0; run < request.repeats; ++run) {
    outcome.samples.push_back(trial.run);
    run_once(trial, outcome);
    if (request.stop_above.count() > 0 && trial.run > request.stop_above) return;
  }
}

}  // namespace

TrialOutcome stage_of(const RecordedTrial& trial, const TrialRequest& request) {
  TrialOutcome outcome;
  outcome.stage = request.stage;
  outcome.reference = ReferenceRun::well;
  if (request.stage == TrialStage::compile) {
    outcome.wall = trial.compile;
    if (fails_to_compile(trial.status)) outcome.status = trial.status;
    if (request.compile_limit.count() > 0 && trial.compile > request.compile_limit) {
      outcome.wall = request.compile_limit;
      outcome.status = TrialStatus::compile;
      outcome.cut = true;
    }
  } else if (request.stage != TrialStage::prepare && trial.status != TrialStatus::correct) {
    outcome.status = trial.status;
    if (trial.status == TrialStatus::timeout) outcome.wall = outcome.device = request.deadline;
  } else if (request.stage == TrialStage::check) {
    run_once(trial, outcome);
  } else if (request.stage == TrialStage::measure) {
    measure(trial, request, outcome);
  }
  return outcome;
}

ReplayedTrials::ReplayedTrials(Outcomes outcomes, ScriptedClock& clock, bool isolated)
    : outcomes_(std::move(outcomes)), clock_(clock), isolated_(isolated) {}

Status ReplayedTrials::start(const TrialRequest& request) {
  if (running_) return Status(StatusCode::busy, "a stage is running");
  if (poisoned_) return Status(StatusCode::device_error, "an earlier run outlived its deadline");
  outcome_ = outcomes_(request);
  end_ = clock_.now() + outcome_.wall;
  running_ = true;
  return {};
}

bool ReplayedTrials::poll(Nanoseconds wait, TrialOutcome& outcome) {
  if (!running_) return false;
  const Nanoseconds left = end_ - clock_.now();
  clock_.advance(std::min(wait, left));
  if (left > wait) return false;
  running_ = false;
  poisoned_ = poisoned_ || (!isolated_ && outcome_.status == TrialStatus::timeout);
  outcome = std::move(outcome_);
  return true;
}

}  // namespace idletune
