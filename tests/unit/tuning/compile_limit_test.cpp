// A compilation is ended where going on with it would break the promise.
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

const Configuration kLimitedDefault{1, 1};
const Shape kLimitedShape{64};

}  // namespace

TEST_CASE("a compilation ends where it would break the promise, and nothing is held against it") {
  const auto board = board_that([](const Configuration& configuration) {
    if (configuration == kLimitedDefault) return RecordedTrial{TrialStatus::correct, 4ms, 10ms};
    return RecordedTrial{TrialStatus::correct, 8ms, 10s};
  });
  AgentOptions options;
  options.compile_cost = 1;
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  TrialOutcome quick;  // as all were before
  quick.wall = 100ms;
  for (int i = 0; i < 9; ++i) engine.task().search.estimates().observe({}, quick, {});
  REQUIRE(engine.launch(kLimitedShape).ok());
  engine.task().said_launches = 5000;  // 20 s, of which 400 ms may be lost
  engine.play(100, 50, 1s);
  CHECK(engine.explain().evaluated == 1);
  CHECK(engine.task().charged > 300ms);
  CHECK(engine.task().charged <= 400ms);
  std::size_t compiled = 0;
  for (const TrialRequest& request : board->requested) {
    if (request.stage != TrialStage::compile || request.configuration == kLimitedDefault) continue;
    ++compiled;
    CHECK_FALSE(engine.journal->state().measurement(engine.key_of(request.configuration)));
  }
  CHECK(compiled == 1);
}

TEST_CASE("an application that did not say how long it will run loses no more to a compilation") {
  const auto board = board_that([](const Configuration& configuration) {
    if (configuration == kLimitedDefault) return RecordedTrial{TrialStatus::correct, 4ms, 10ms};
    return RecordedTrial{TrialStatus::correct, 8ms, 10s};
  });
  AgentOptions options;
  options.compile_cost = 1;
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  TrialOutcome quick;
  quick.wall = 100ms;
  for (int i = 0; i < 9; ++i) engine.task().search.estimates().observe({}, quick, {});
  while (engine.explain().evaluated == 0) engine.play(1, 50, 1s);
  // As many launches again are expected.
  const Nanoseconds passed = 4ms * engine.task().launches();
  CHECK(engine.task().charged > passed * 2 / 100);
  CHECK(engine.task().charged <= passed * 4 / 100);
}

// --- what is in the way ---
