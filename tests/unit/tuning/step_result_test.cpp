#include <doctest/doctest.h>

#include "agent/tuning/step_result.hpp"

using namespace idletune;

namespace {

const Proposal kProposal{{4}, ProposalOrigin::random};

TrialOutcome answer(const TrialRequest& request, Nanoseconds run) {
  TrialOutcome outcome;
  outcome.stage = request.stage;
  outcome.device = run;
  outcome.wall = request.stage == TrialStage::compile ? Nanoseconds(700) : run;
  if (request.stage == TrialStage::measure) outcome.samples.assign(request.repeats, run);
  return outcome;
}

CandidateTrial played(Nanoseconds candidate, Nanoseconds incumbent, int failing_check = 0) {
  CandidateContext context;
  context.candidate = kProposal.configuration;
  context.incumbent = {1};
  context.incumbent_time = incumbent;
  CandidateTrial trial({}, context);
  int checks = 0;
  while (const auto request = trial.next()) {
    TrialOutcome outcome = answer(*request, trial.next_is_incumbent() ? incumbent : candidate);
    if (request->stage == TrialStage::check && ++checks == failing_check) {
      outcome.status = TrialStatus::correctness;
      outcome.message = "differs";
    }
    trial.on_outcome(outcome);
  }
  return trial;
}

}  // namespace

TEST_CASE("a trial that wins gives its time and both checks") {
  const StepResult result = StepResult::of(kProposal, played(Nanoseconds(100), Nanoseconds(200)));
  CHECK(result.verdict == TrialVerdict::adopt);
  CHECK(result.time == Nanoseconds(100));
  CHECK(result.checked_seeds == 2);
  CHECK(result.timed());
  CHECK(result.observation().run_time == Nanoseconds(100));
  CHECK(result.observation().compile_time == result.compile);
  CHECK(result.proposal.configuration == kProposal.configuration);
}

TEST_CASE("a slow trial has passed one check") {
  const StepResult result = StepResult::of(kProposal, played(Nanoseconds(900), Nanoseconds(200)));
  CHECK(result.verdict == TrialVerdict::reject_slow);
  CHECK(result.time == Nanoseconds(900));
  CHECK(result.checked_seeds == 1);
}

TEST_CASE("what fails after it was timed has no time") {
  const CandidateTrial trial = played(Nanoseconds(100), Nanoseconds(200), 2);
  REQUIRE(trial.candidate_time().count() > 0);
  const StepResult result = StepResult::of(kProposal, trial);
  CHECK(result.verdict == TrialVerdict::reject_failed);
  CHECK(result.status == TrialStatus::correctness);
  CHECK(result.time.count() == 0);
  CHECK_FALSE(result.timed());
  CHECK(result.checked_seeds == 1);
  CHECK(result.message == "differs");
}

TEST_CASE("a baseline's result is of what runs already") {
  ReferenceBaseline baseline({}, {9}, false, false);
  while (const auto request = baseline.next())
    baseline.on_outcome(answer(*request, Nanoseconds(50)));
  const StepResult result = StepResult::of(Configuration{9}, baseline);
  CHECK(result.timed());
  CHECK(result.time == Nanoseconds(50));
  CHECK(result.proposal.origin == ProposalOrigin::application);
  CHECK(result.proposal.configuration == Configuration{9});
  CHECK(result.compile == baseline.compile_time());
}

TEST_CASE("a baseline that fails says how") {
  ReferenceBaseline baseline({}, {9}, false, false);
  TrialOutcome outcome = answer(*baseline.next(), Nanoseconds(50));
  outcome.status = TrialStatus::compile;
  outcome.message = "no compiler";
  baseline.on_outcome(outcome);
  REQUIRE(baseline.done());
  const StepResult result = StepResult::of(Configuration{9}, baseline);
  CHECK_FALSE(result.timed());
  CHECK(result.status == TrialStatus::compile);
  CHECK(result.message == "no compiler");
}
