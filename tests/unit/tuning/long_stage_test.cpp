// A stage that is longer than every gap keeps the others neither from tuning nor for ever.
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

TEST_CASE("where a shape's stage fits no gap the others are tuned, and it later") {
  const Shape heavy{64}, light{128};
  const auto board = board_that();
  int prepared = 0;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.stage != TrialStage::prepare || request.shape != heavy) return;
    ++prepared;
    outcome.wall = 50ms;
  };
  PlayedEngine engine(*board);
  const auto frame = [&] {
    REQUIRE(engine.launch(heavy, 200).ok());
    REQUIRE(engine.launch(light, 20).ok());
    engine.idle_through(10ms);
  };
  for (int i = 0; i < 200; ++i) {
    if (engine.explain(heavy).default_ms > 0 && engine.explain(light).default_ms > 0) break;
    frame();
  }
  REQUIRE(prepared == 1);
  REQUIRE(engine.explain(heavy).default_ms > 0);
  REQUIRE(engine.explain(light).evaluated == 0);
  for (int i = 0; i < 60; ++i) frame();
  CHECK(prepared == 1);
  CHECK(engine.explain(light).evaluated > 5);
  CHECK(engine.explain(heavy).blocker == Blocker::gap);
  for (int i = 0; i < 1000 && engine.explain(heavy).evaluated == 0; ++i) frame();
  CHECK(engine.explain(heavy).evaluated > 0);
}

TEST_CASE("a look at launches is no gap that was too short") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.task().blocker = Blocker::gap;
  engine.task().misses = 2;
  for (int i = 0; i < 10; ++i) (void)engine.idle(0ns);
  CHECK(engine.task().misses == 2);
}

TEST_CASE("a device that nobody trusts yet is not asked in gaps that are too short") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.task();
  engine.kernel->device->set_reference_due(true);
  const IdleReport report = engine.idle(1us);
  CHECK(report.stages == 0);
  CHECK(std::string(report.why) == "the next stage does not fit");
}
