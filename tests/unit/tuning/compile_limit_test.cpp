// A compilation is ended where going on with it would break the promise; a stage that launches had to
// wait for is charged.
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

TEST_CASE("a stage that launches had to wait for is charged what of it was left") {
  Shape launching{64};
  bool logged_late = false;
  SUBCASE("of a shape that has a slot") {}
  SUBCASE("of one that has none") { launching = {128}; }
  SUBCASE("which began before launches were logged") { logged_late = true; }
  AgentOptions options;
  options.max_shapes = 1;
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  if (!logged_late) engine.kernel->state->log_launches(&board->clock);
  REQUIRE(engine.launch({64}, 50000).ok());
  engine.task().said_launches = 1e6;
  for (int i = 0; i < 20 && engine.explain().evaluated < 3; ++i) engine.idle_through(100ms);
  // The next stage on the device takes far longer than expected: the gap ends before it does.
  bool prolonged = false;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (prolonged || request.stage == TrialStage::compile) return;
    prolonged = true;
    outcome.wall = outcome.device = 500ms;
  };
  Nanoseconds start{0};
  for (int i = 0; i < 100 && !prolonged; ++i) {
    start = board->clock.now();
    engine.idle_through(100ms);
  }
  REQUIRE(prolonged);
  const double before = engine.engine->status().charged_seconds;
  const Nanoseconds launched = board->clock.now();
  REQUIRE(engine.launch(launching).ok());
  if (logged_late) {
    engine.kernel->state->log_launches(&board->clock);
    board->clock.advance(1s);
    REQUIRE(engine.launch(launching).ok());
  }
  CHECK(engine.idle(10s).stages > 0);
  const double charged = engine.engine->status().charged_seconds - before;
  const double left = static_cast<double>((500ms - (launched - start)).count()) * 1e-9;
  CHECK(charged >= left);
}
