#include "agent/tuning/in_place_trial.hpp"

#include <doctest/doctest.h>

using namespace idletune;
using namespace idletune::detail;

namespace {

Nanoseconds us(std::int64_t value) { return std::chrono::microseconds(value); }

// The incumbent takes 100 us in trials, the candidate `screened`.
TrialOutcome passed(const TrialRequest& request, Nanoseconds screened = us(90)) {
  TrialOutcome outcome;
  outcome.stage = request.stage;
  if (request.stage == TrialStage::measure) {
    outcome.samples.assign(request.repeats,
                           request.configuration == Configuration{1} ? screened : us(100));
  }
  return outcome;
}

InPlaceTrial trial_of_one() {
  CandidateContext context;
  context.shape = {8};
  context.candidate = {1};
  context.incumbent = {2};
  context.incumbent_time = us(100);
  return InPlaceTrial({}, context, 0.05);
}

InPlaceTrial checked_trial(Nanoseconds screened = us(90)) {
  InPlaceTrial trial = trial_of_one();
  while (std::optional<TrialRequest> request = trial.next())
    trial.on_outcome(passed(*request, screened));
  return trial;
}

}  // namespace

TEST_CASE("nothing is launched before both seeds passed the check and the screening") {
  InPlaceTrial trial = trial_of_one();
  std::vector<TrialStage> stages;
  std::vector<std::uint32_t> seeds;
  while (std::optional<TrialRequest> request = trial.next()) {
    CHECK_FALSE(trial.checked());
    stages.push_back(request->stage);
    if (request->stage == TrialStage::check) seeds.push_back(request->seed);
    trial.on_outcome(passed(*request));
  }
  CHECK(trial.checked());
  CHECK(stages == std::vector<TrialStage>{TrialStage::compile, TrialStage::prepare,
                                          TrialStage::check, TrialStage::measure,
                                          TrialStage::prepare, TrialStage::check});
  CHECK(seeds == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("a failed check rejects without a launch") {
  InPlaceTrial trial = trial_of_one();
  trial.on_outcome(passed(*trial.next()));
  trial.on_outcome(passed(*trial.next()));
  TrialOutcome wrong = passed(*trial.next());
  wrong.status = TrialStatus::correctness;
  trial.on_outcome(wrong);
  CHECK(trial.verdict() == TrialVerdict::reject_failed);
  CHECK(trial.status() == TrialStatus::correctness);
  CHECK_FALSE(trial.checked());
}

TEST_CASE("what screening finds slower is never launched, and what that said is its time") {
  const InPlaceTrial trial = checked_trial(us(500));
  CHECK(trial.verdict() == TrialVerdict::reject_slow);
  CHECK_FALSE(trial.checked());
  CHECK(trial.candidate_time() == us(500));
}

TEST_CASE("an incumbent that fails in the runner says nothing about the candidate") {
  InPlaceTrial trial = trial_of_one();
  bool anchored = false;
  while (std::optional<TrialRequest> request = trial.next()) {
    TrialOutcome outcome = passed(*request, us(200));  // slower, but perhaps only the clock is
    anchored = trial.next_is_incumbent();
    if (anchored) outcome.status = TrialStatus::runtime;
    trial.on_outcome(outcome);
  }
  CHECK(anchored);
  CHECK(trial.verdict() == TrialVerdict::inconclusive);
}

TEST_CASE("the share of candidate launches keeps the slow-down that was allowed") {
  InPlaceTrial trial = checked_trial(us(120));
  CHECK(trial.period() == 4);  // 20 % slower in the screening
  trial.on_incumbent_time(us(100));
  trial.on_candidate_time(us(110));
  CHECK(trial.period() == 2);  // 10 % slower every second launch: 5 %
}

TEST_CASE("times are those of the trials' clock, also where launches take longer") {
  InPlaceTrial trial = checked_trial();
  for (std::size_t i = 0; i < InPlaceTrial::kSamples; ++i) {
    trial.on_incumbent_time(us(300));
    trial.on_candidate_time(us(240));
  }
  CHECK(trial.verdict() == TrialVerdict::adopt);
  CHECK(trial.candidate_time() == us(80));
}

TEST_CASE("a clearly slower candidate is launched three times") {
  InPlaceTrial trial = checked_trial();
  for (std::size_t i = 0; i < InPlaceTrial::kFirstLook; ++i) {
    CHECK(trial.verdict() == TrialVerdict::pending);
    trial.on_candidate_time(us(200));
    trial.on_incumbent_time(us(100));
  }
  CHECK(trial.verdict() == TrialVerdict::reject_slow);
}

TEST_CASE("a faster candidate is adopted after enough launches of both") {
  InPlaceTrial trial = checked_trial();
  for (std::size_t i = 0; i < InPlaceTrial::kSamples; ++i) {
    CHECK(trial.verdict() == TrialVerdict::pending);
    trial.on_incumbent_time(us(100));
    trial.on_candidate_time(us(80));
  }
  CHECK(trial.verdict() == TrialVerdict::adopt);
  CHECK(trial.candidate_time() == us(80));
}

TEST_CASE("a win below the margin is none") {
  InPlaceTrial trial = checked_trial();
  for (std::size_t i = 0; i < InPlaceTrial::kSamples; ++i) {
    trial.on_incumbent_time(us(100));
    trial.on_candidate_time(us(98));
  }
  CHECK(trial.verdict() == TrialVerdict::reject_slow);
}
