#include "agent/tuning/step_result.hpp"

namespace idletune {
namespace {

Nanoseconds if_correct(TrialStatus status, Nanoseconds time) {
  return status == TrialStatus::correct ? time : Nanoseconds{0};
}

}  // namespace

StepResult StepResult::of(const Proposal& proposal, const CandidateTrial& trial) {
  StepResult result;
  result.proposal = proposal;
  result.verdict = trial.verdict();
  result.status = trial.status();
  result.time = if_correct(trial.status(), trial.candidate_time());
  result.compile = trial.compile_time();
  // What was timed has passed the first check.
  result.checked_seeds = trial.checked_all_seeds() ? 2 : trial.candidate_time().count() > 0 ? 1 : 0;
  result.message = trial.message();
  result.cut = trial.cut();
  result.pairs = trial.pairs();
  result.ratio = trial.ratio();
  const bool paired = result.pairs > 0;
  result.candidate = paired ? trial.raw_candidate_median() : trial.candidate_time();
  result.incumbent = paired ? trial.raw_incumbent_median() : trial.context().incumbent_time;
  result.least_gain = trial.least_gain();
  result.setup = trial.setup_time();
  return result;
}

StepResult StepResult::of(const Configuration& configuration, const ReferenceBaseline& baseline) {
  StepResult result;
  const bool correct = baseline.status() == TrialStatus::correct;
  result.proposal = {configuration, ProposalOrigin::application};
  result.verdict = correct ? TrialVerdict::adopt : TrialVerdict::reject_failed;
  result.status = baseline.status();
  result.time = if_correct(baseline.status(), baseline.time());
  result.compile = baseline.compile_time();
  result.checked_seeds = correct ? 1 : 0;
  result.message = baseline.message();
  return result;
}

}  // namespace idletune
