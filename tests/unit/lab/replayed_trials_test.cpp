#include "agent/host/lab/replayed_trials.hpp"

#include <doctest/doctest.h>

using namespace idletune;
using namespace std::chrono_literals;

namespace {

TrialRequest request_of(TrialStage stage, std::uint32_t repeats = 1) {
  TrialRequest request;
  request.stage = stage;
  request.repeats = repeats;
  request.deadline = 2s;
  return request;
}

constexpr TrialStage kStages[] = {TrialStage::compile, TrialStage::prepare, TrialStage::check,
                                  TrialStage::measure};

}  // namespace

TEST_CASE("a recorded time is what compiling, checking and measuring take") {
  const RecordedTrial trial{TrialStatus::correct, 3ms, 40ms};
  CHECK(stage_of(trial, request_of(TrialStage::compile)).wall == 40ms);
  CHECK(stage_of(trial, request_of(TrialStage::compile)).device == 0ms);
  CHECK(stage_of(trial, request_of(TrialStage::prepare)).wall == 0ms);
  CHECK(stage_of(trial, request_of(TrialStage::check)).device == 3ms);
  const TrialOutcome measured = stage_of(trial, request_of(TrialStage::measure, 5));
  CHECK(measured.samples == std::vector<Nanoseconds>(5, 3ms));
  CHECK(measured.wall == 15ms);
  for (const TrialStage stage : kStages) {
    CHECK(stage_of(trial, request_of(stage)).status == TrialStatus::correct);
    CHECK(stage_of(trial, request_of(stage)).stage == stage);
  }
}

TEST_CASE("a compilation ends at its limit") {
  TrialRequest request = request_of(TrialStage::compile);
  request.compile_limit = 40ms;
  CHECK(stage_of({TrialStatus::correct, 3ms, 40ms}, request).status == TrialStatus::correct);
  const TrialOutcome outcome = stage_of({TrialStatus::correct, 3ms, 41ms}, request);
  CHECK(outcome.status == TrialStatus::compile);
  CHECK(outcome.cut);
  CHECK(outcome.wall == 40ms);
}

TEST_CASE("measuring ends with the first run that is slow enough to stop") {
  TrialRequest request = request_of(TrialStage::measure, 5);
  request.stop_above = 2ms;
  CHECK(stage_of({TrialStatus::correct, 3ms, 0ms}, request).samples.size() == 1);
  CHECK(stage_of({TrialStatus::correct, 2ms, 0ms}, request).samples.size() == 5);
}

TEST_CASE("recorded failures come at the stage where they happened") {
  const auto status = [](TrialStatus recorded, TrialStage stage) {
    return stage_of({recorded, 0ms, 1ms}, request_of(stage)).status;
  };
  for (const TrialStatus early : {TrialStatus::compile, TrialStatus::constraints}) {
    CHECK(status(early, TrialStage::compile) == early);
    CHECK(status(early, TrialStage::prepare) == TrialStatus::correct);
  }
  for (const TrialStatus late :
       {TrialStatus::runtime, TrialStatus::correctness, TrialStatus::timeout, TrialStatus::crash}) {
    CHECK(status(late, TrialStage::compile) == TrialStatus::correct);
    CHECK(status(late, TrialStage::check) == late);
    CHECK(status(late, TrialStage::measure) == late);
  }
  CHECK(stage_of({TrialStatus::timeout, 0ms, 0ms}, request_of(TrialStage::check)).wall == 2s);
}

TEST_CASE("a stage ends when its time has passed on the clock, whoever let it pass") {
  ScriptedClock clock(5s);
  ReplayedTrials trials(
      [](const TrialRequest& request) {
        return stage_of({TrialStatus::correct, 3ms, 40ms}, request);
      },
      clock);
  TrialOutcome outcome;
  CHECK_FALSE(trials.poll(1s, outcome));  // nothing was started
  REQUIRE(trials.start(request_of(TrialStage::compile)).ok());
  CHECK(trials.start(request_of(TrialStage::compile)).code() == StatusCode::busy);
  CHECK_FALSE(trials.poll(0ms, outcome));
  CHECK_FALSE(trials.poll(10ms, outcome));
  CHECK(clock.now() == 5s + 10ms);
  clock.advance(25ms);
  REQUIRE(trials.poll(1s, outcome));
  CHECK(outcome.wall == 40ms);
  CHECK(clock.now() == 5s + 40ms);
  CHECK_FALSE(trials.poll(1s, outcome));
  CHECK(clock.now() == 5s + 40ms);
  // A stage that ended while nobody looked has ended.
  REQUIRE(trials.start(request_of(TrialStage::compile)).ok());
  clock.advance(1min);
  REQUIRE(trials.poll(0ms, outcome));
  CHECK(clock.now() == 5s + 40ms + 1min);
}

TEST_CASE("a hang poisons a runner in the application's process and no other") {
  const auto hang = [](const TrialRequest& request) {
    return stage_of({TrialStatus::timeout, 0ms, 0ms}, request);
  };
  for (const bool isolated : {false, true}) {
    ScriptedClock clock;
    ReplayedTrials trials(hang, clock, isolated);
    CHECK(trials.isolated() == isolated);
    REQUIRE(trials.start(request_of(TrialStage::check)).ok());
    CHECK_FALSE(trials.poisoned());
    TrialOutcome outcome;
    REQUIRE(trials.poll(1h, outcome));
    CHECK(outcome.status == TrialStatus::timeout);
    CHECK(trials.poisoned() != isolated);
    CHECK(trials.start(request_of(TrialStage::check)).ok() == isolated);
  }
}

TEST_CASE("a scripted clock never goes back") {
  ScriptedClock clock(5s);
  clock.advance(-1s);
  CHECK(clock.now() == 5s);
  clock.advance(1s);
  CHECK(clock.now() == 6s);
}
