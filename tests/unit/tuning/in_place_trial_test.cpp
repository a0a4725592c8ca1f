#include "agent/tuning/in_place_trial.hpp"

#include <doctest/doctest.h>

using namespace idletune;
using namespace idletune::detail;

namespace {

Nanoseconds us(std::int64_t value) { return std::chrono::microseconds(value); }

TrialOutcome passed(TrialStage stage) {
  TrialOutcome outcome;
  outcome.stage = stage;
  return outcome;
}

InPlaceTrial checked_trial() {
  InPlaceTrial trial({}, {8}, {1}, 0.05);
  while (std::optional<TrialRequest> request = trial.next())
    trial.on_outcome(passed(request->stage));
  return trial;
}

}  // namespace

TEST_CASE("nothing is launched before both seeds passed the check") {
  InPlaceTrial trial({}, {8}, {1}, 0.05);
  std::vector<TrialStage> stages;
  std::vector<std::uint32_t> seeds;
  while (std::optional<TrialRequest> request = trial.next()) {
    CHECK_FALSE(trial.checked());
    stages.push_back(request->stage);
    if (request->stage == TrialStage::check) seeds.push_back(request->seed);
    trial.on_outcome(passed(request->stage));
  }
  CHECK(trial.checked());
  CHECK(stages == std::vector<TrialStage>{TrialStage::compile, TrialStage::prepare,
                                          TrialStage::check, TrialStage::prepare,
                                          TrialStage::check});
  CHECK(seeds == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("a failed check rejects without a launch") {
  InPlaceTrial trial({}, {8}, {1}, 0.05);
  trial.on_outcome(passed(TrialStage::compile));
  trial.on_outcome(passed(TrialStage::prepare));
  TrialOutcome wrong = passed(TrialStage::check);
  wrong.status = TrialStatus::correctness;
  trial.on_outcome(wrong);
  CHECK(trial.verdict() == TrialVerdict::reject_failed);
  CHECK(trial.status() == TrialStatus::correctness);
  CHECK_FALSE(trial.checked());
}

TEST_CASE("the share of candidate launches keeps the slow-down that was allowed") {
  InPlaceTrial trial = checked_trial();
  CHECK(trial.period() == 40);  // three times as slow assumed: 2 / 0.05
  trial.on_incumbent_time(us(100));
  trial.on_candidate_time(us(110));
  CHECK(trial.period() == 2);  // 10 % slower every second launch: 5 %
}

TEST_CASE("a clearly slower candidate is launched once") {
  InPlaceTrial trial = checked_trial();
  trial.on_candidate_time(us(200));
  CHECK(trial.verdict() == TrialVerdict::pending);
  trial.on_incumbent_time(us(100));
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
