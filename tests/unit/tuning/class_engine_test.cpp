// What is known of one shape and counts for others, and slots that come back.
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::played;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

const Shape kShape{64};
const Shape kOther{128};  // of the same class

void tune(PlayedEngine& engine) {
  REQUIRE(engine.launch(kShape, 1000).ok());
  for (int i = 0; i < 1000 && engine.task().variants.adopted() == nullptr; ++i) engine.tune(100ms);
  REQUIRE(engine.task().variants.adopted() != nullptr);
}

}  // namespace

TEST_CASE("What one shape adopted runs for others of its class at their first launch") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  tune(engine);
  REQUIRE(engine.launch(kOther).ok());
  CHECK(engine.explain(kOther).selection == Selection::shape_class);
  CHECK(engine.explain(kOther).running == engine.explain(kShape).running);
  REQUIRE(engine.launch({1}).ok());  // one element alone
  CHECK(engine.explain({1}).selection == Selection::fallback);
}

TEST_CASE("A shape that ran its class's variant is tuned all the same, that one first") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  tune(engine);
  REQUIRE(engine.launch(kOther, 100000).ok());
  for (int i = 0; i < 1000 && engine.task(kOther).variants.adopted() == nullptr; ++i) {
    engine.tune(100ms);
  }
  CHECK(engine.explain(kOther).selection == Selection::tuned);
  CHECK(engine.task(kOther).class_hinted);
}

TEST_CASE("After a restart what was adopted counts for its class again") {
  const auto disk = std::make_shared<Disk>();
  const auto board = board_that();
  {
    PlayedEngine engine(*board, disk);
    tune(engine);
    engine.engine->note(true);
  }
  PlayedEngine engine(*board, disk, {}, 2);
  REQUIRE(engine.launch(kOther).ok());
  CHECK(engine.explain(kOther).selection == Selection::shape_class);
}

TEST_CASE("A class of which a check fails counts for nothing any more") {
  bool wrong = false;
  const auto board = board_that([&](const Configuration& configuration) {
    RecordedTrial trial = played(configuration);
    if (wrong && configuration != Configuration{1, 1}) trial.status = TrialStatus::correctness;
    return trial;
  });
  PlayedEngine engine(*board);
  tune(engine);
  REQUIRE(engine.launch(kOther, 100000).ok());
  REQUIRE(engine.launch({256}).ok());
  CHECK(engine.explain({256}).selection == Selection::shape_class);
  wrong = true;
  for (int i = 0; i < 1000 && !engine.engine->classes_fail(*engine.kernel); ++i) engine.tune(100ms);
  CHECK(engine.explain(kOther).selection == Selection::fallback);
  CHECK(engine.explain({256}).selection == Selection::fallback);
  REQUIRE(engine.launch({512}).ok());
  CHECK(engine.explain({512}).selection == Selection::fallback);
  CHECK(engine.explain(kShape).selection == Selection::tuned);  // it was checked there
}

TEST_CASE("What was wrong at one shape is not right for the class because it is at another") {
  bool wrong = true;
  const auto board = board_that([&](const Configuration& configuration) {
    RecordedTrial trial = played(configuration);
    if (wrong && configuration != Configuration{1, 1}) {
      trial.status = TrialStatus::correctness;
    }
    return trial;
  });
  PlayedEngine engine(*board);
  REQUIRE(engine.launch(kOther, 100000).ok());
  for (int i = 0; i < 100; ++i) engine.tune(100ms);
  CHECK_FALSE(engine.engine->classes_fail(*engine.kernel));
  wrong = false;
  tune(engine);
  CHECK(engine.engine->classes_fail(*engine.kernel));
  REQUIRE(engine.launch({256}).ok());
  CHECK(engine.explain({256}).selection == Selection::fallback);
}

TEST_CASE("What an earlier session found right refutes a class that is wrong now") {
  const auto disk = std::make_shared<Disk>();
  Configuration adopted;
  bool wrong = false;
  const auto board = board_that([&](const Configuration& configuration) {
    RecordedTrial trial = played(configuration);
    const bool other = configuration != Configuration{1, 1} && configuration != adopted;
    if (wrong && other) trial.status = TrialStatus::correctness;
    return trial;
  });
  {
    PlayedEngine engine(*board, disk);
    REQUIRE(engine.launch(kShape, 1000).ok());
    engine.tune(10h);
    adopted = engine.explain(kShape).running;
    engine.engine->note(true);
  }
  wrong = true;
  PlayedEngine engine(*board, disk, {}, 2);
  REQUIRE(engine.launch(kOther, 100000).ok());
  CHECK(engine.explain(kOther).selection == Selection::shape_class);
  for (int i = 0; i < 100 && !engine.engine->classes_fail(*engine.kernel); ++i) engine.tune(100ms);
  CHECK(engine.engine->classes_fail(*engine.kernel));
  CHECK(engine.explain(kOther).selection != Selection::shape_class);
}

TEST_CASE("Slots of shapes that are not launched any more are given to others") {
  AgentOptions options;
  options.max_shapes = 2;
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  const detail::LaunchTable& table = engine.kernel->state->table();
  const auto has_slot = [&](const Shape& shape) {
    return bool(table.find(detail::TunerLock::held(), shape, detail::LaunchTable::hash(shape)));
  };
  for (std::int64_t n : {1, 2, 3}) REQUIRE(engine.launch({n}).ok());
  CHECK_FALSE(has_slot({3}));
  for (int i = 0; i < 6; ++i) {
    REQUIRE(engine.launch({1}).ok());
    REQUIRE(engine.launch({3}).ok());
    (void)engine.idle(0ns);
    board->clock.advance(2s);
  }
  CHECK(has_slot({1}));
  CHECK_FALSE(has_slot({2}));
  CHECK(has_slot({3}));
  (void)engine.idle(0ns);
  CHECK(engine.kernel->shapes.size() == 2);
  CHECK(engine.explain({3}).launches >= 1);
}

TEST_CASE("A shape of which no launches are left to come gives its slot back") {
  AgentOptions options;
  options.max_shapes = 2;
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  for (std::int64_t n : {1, 2}) {
    engine.kernel->state->expect_launches({n}, 10);
    REQUIRE(engine.launch({n}, 10).ok());
  }
  for (int i = 0; i < 6; ++i) {
    REQUIRE(engine.launch({3}).ok());
    (void)engine.idle(0ns);
    board->clock.advance(2s);
  }
  CHECK(engine.explain({3}).launches >= 1);
}

TEST_CASE("A trial that nobody goes on with keeps no slot from others, and is made again") {
  AgentOptions options;
  options.max_shapes = 1;
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  const detail::LaunchTable& table = engine.kernel->state->table();
  REQUIRE(engine.launch({64}, 1000).ok());
  do {
    engine.tune(1ms);
  } while (engine.task().work.trying() == nullptr);
  for (int i = 0; i < 8; ++i) {
    REQUIRE(engine.launch({3}).ok());
    (void)engine.idle(1ms);
    board->clock.advance(2s);
  }
  CHECK(table.find(detail::TunerLock::held(), {3}, detail::LaunchTable::hash({3})));
}

TEST_CASE("A shape whose task somebody keeps stays") {
  AgentOptions options;
  options.max_shapes = 1;
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  detail::ShapeTask& kept = engine.task({64});
  const auto look = [&] {
    for (int i = 0; i < 6; ++i) {
      REQUIRE(engine.launch({3}).ok());
      (void)engine.idle(0ns);
      board->clock.advance(2s);
    }
  };
  {
    const detail::TaskLease lease(kept);
    look();
    REQUIRE(engine.kernel->shapes.size() == 1);
    CHECK(engine.kernel->shapes[0]->slot.shape == Shape{64});
  }
  look();
  REQUIRE(engine.kernel->shapes.size() == 1);
  CHECK(engine.kernel->shapes[0]->slot.shape == Shape{3});
}

TEST_CASE("The slot of a tuned shape is kept") {
  AgentOptions options;
  options.max_shapes = 1;
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  tune(engine);
  for (int i = 0; i < 10; ++i) {
    REQUIRE(engine.launch(kOther).ok());
    (void)engine.idle(0ns);
    board->clock.advance(2s);
  }
  CHECK(engine.explain(kShape).selection == Selection::tuned);
}

TEST_CASE("Where a death would not be known any more nothing is offered for its class") {
  AgentOptions options;
  options.state = "played";
  options.max_shapes = 1;
  const auto board = board_that();
  const auto disk = std::make_shared<Disk>();
  disk->fault.first = 0;
  disk->fault.code = StatusCode::no_space;
  PlayedEngine engine(*board, disk, options);
  tune(engine);
  const auto offered = [&] { return engine.kernel->state->classes().newest().choose(kOther); };
  REQUIRE(offered() != nullptr);
  disk->fault.first = UINT64_MAX;
  board->clock.advance(100s);
  (void)engine.idle(0ns);
  REQUIRE(engine.journal->storage_status().ok());
  bool crashed = false;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (crashed || request.stage != TrialStage::check) return;
    crashed = true;
    outcome.status = TrialStatus::crash;
  };
  for (int i = 0; i < 100 && !crashed; ++i) engine.tune(100ms);
  REQUIRE(crashed);
  (void)engine.idle(0ns);
  CHECK(offered() == nullptr);
}

TEST_CASE("A launch of an earlier comparison counts for no later one") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  detail::ClassAudit& audit = engine.kernel->state->classes().audit;
  detail::Profiles profiles{};
  profiles[0] = new Nanoseconds(1000);  // as the device of these tests has them
  CHECK(audit.of_default.post(profiles, detail::ClassAudit::mark(1, 2)));
  (void)engine.idle(0ns);
  CHECK(engine.kernel->audit.of_default.count() == 0);
  CHECK(audit.of_default.none_out());
}

TEST_CASE("Without a slot a class's variant runs where launches say that it is faster") {
  AgentOptions options;
  options.max_shapes = 1;
  for (const bool faster : {true, false}) {
    CAPTURE(faster);
    const auto board = board_that();
    PlayedEngine engine(*board, std::make_shared<Disk>(), options);
    tune(engine);
    const Configuration tuned = engine.explain(kShape).running;
    board->device.launch_script = [&](const std::string& compiled) -> Result<Nanoseconds> {
      const bool is_tuned = compiled.find("A=" + std::to_string(tuned[0])) != std::string::npos;
      return Nanoseconds(is_tuned != faster ? 1ms : 500us);
    };
    const detail::KernelState& kernel = *engine.kernel->state;
    const auto frames = [&](int count) {
      const std::uint64_t before = kernel.class_launches();
      for (int i = 0; i < count; ++i) {
        REQUIRE(engine.launch(kOther, 2).ok());
        (void)engine.idle(0ns);
        board->clock.advance(16ms);
      }
      return static_cast<int>(kernel.class_launches() - before);
    };
    const int first = frames(10);
    CHECK(first > 0);
    CHECK(first <= (faster ? 20 : 10));
    frames(100);
    CHECK(frames(500) >= (faster ? 900 : 0));
    CHECK(frames(500) <= (faster ? 990 : 0));  // looked at again and again
    board->device.queue_has_profiling = false;
    if (!faster) CHECK(frames(10) == 0);
  }
}

TEST_CASE(
    "What is kept for its class takes turns with the default again, and ends where it loses") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  tune(engine);
  const Configuration tuned = engine.explain(kShape).running;
  bool faster = true;
  board->device.launch_script = [&](const std::string& compiled) -> Result<Nanoseconds> {
    const bool is_tuned = compiled.find("A=" + std::to_string(tuned[0])) != std::string::npos;
    return Nanoseconds(is_tuned != faster ? 1ms : 500us);
  };
  const auto frames = [&](int count) {
    for (int i = 0; i < count; ++i) {
      REQUIRE(engine.launch(kOther, 10).ok());
      (void)engine.idle(0ns);
      board->clock.advance(16ms);
    }
  };
  frames(20);
  CHECK(engine.explain(kOther).running == tuned);
  faster = false;
  frames(80);  // 128 and 512 launches after it was kept
  CHECK(engine.explain(kOther).selection == Selection::fallback);
}
