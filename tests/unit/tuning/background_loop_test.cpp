// The background loop, round by round: the application's launches, the board and the time are
// scripted.
#include "agent/tuning/background_loop.hpp"

#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::detail::BackgroundLoop;
using idletune::test::board_that;
using idletune::test::PlayedBoard;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

// An application that launches ten times and then leaves the device alone for 200 ms.
struct Application {
  explicit Application(const BackgroundOptions& options = {})
      : board(board_that()),
        surroundings(board->surroundings()),
        engine(*board),
        loop((engine.kernel->state->log_launches(&board->clock), *engine.engine), options,
             surroundings) {}
  void play(int frames) {
    for (int i = 0; i < frames; ++i) {
      REQUIRE(engine.launch({64}, 10).ok());
      const Nanoseconds end = board->clock.now() + 200ms;
      while (board->clock.now() < end) {
        const Nanoseconds sleep = loop.round();
        CHECK(sleep.count() > 0);
        board->clock.advance(std::min(sleep, end - board->clock.now()));
      }
    }
  }

  const std::unique_ptr<PlayedBoard> board;
  const detail::Surroundings surroundings;
  PlayedEngine engine;
  BackgroundLoop loop;
};

}  // namespace

TEST_CASE("gaps between launches are found and used") {
  Application application;
  application.play(300);
  CHECK(application.engine.explain().evaluated > 5);
  CHECK(application.engine.explain().selection == Selection::tuned);
}

TEST_CASE("nothing happens while the launches seen keep the device busy") {
  Application application;
  application.play(50);
  REQUIRE(application.engine.task().running_time.count() > 0);
  application.board->requested.clear();
  // Launches queue up behind each other: the clock stands still meanwhile.
  const auto launches = application.board->device.launch_script;
  application.board->device.launch_script = [](const std::string&) -> Result<Nanoseconds> {
    return Nanoseconds(1ms);
  };
  REQUIRE(application.engine.launch({64}, 100).ok());
  const Nanoseconds sleep = application.loop.round();
  CHECK(application.board->requested.empty());
  CHECK(sleep >= 50 * application.engine.task().running_time);
}

TEST_CASE("a first launch that took long does not hide the gaps after it") {
  Application application;
  const auto usual = application.board->device.launch_script;
  int launches = 0;
  application.board->device.launch_script = [&](const std::string& source) -> Result<Nanoseconds> {
    return ++launches == 1 ? Result<Nanoseconds>(Nanoseconds(1s)) : usual(source);
  };
  application.play(100);
  CHECK(application.engine.explain().evaluated > 5);
}

TEST_CASE("a pause in which another kernel's lost launches ran is no gap") {
  Application application;
  PlayedEngine& engine = application.engine;
  PlayedBoard& board = *application.board;
  board.device.launch_script = [](const std::string&) { return Result<Nanoseconds>(10us); };
  auto state = required(detail::KernelState::create(
      board.device, required(KernelPackage::open(test::played_package(), "sparse")), 8));
  const detail::KernelTask& sparse = engine.engine->add_kernel(std::move(state), nullptr);
  sparse.state->log_launches(&board.clock);
  const auto buffer = required(board.device.allocate(4096 * sizeof(float)));
  const Argument arguments[] = {buffer->argument()};
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 2000; ++k) {
      REQUIRE(engine.launch().ok());
      board.clock.advance(30us);
    }
    REQUIRE(sparse.state->launch(LaunchOptions{}, {64}, arguments).ok());
  }
  // Compiling, which needs no gap, and what comes next.
  for (int rounds = 0; rounds < 2; ++rounds) {
    REQUIRE(engine.launch().ok());
    board.clock.advance(20us);
    (void)application.loop.round();
    board.clock.advance(20ms);
  }
  for (const TrialRequest& request : board.requested) CHECK(request.stage == TrialStage::compile);
}

TEST_CASE("where launches may be timed, gaps that no longer come are not waited for") {
  Application application;
  application.engine.kernel->in_place.allowed = true;
  // Frames that leave gaps, then a device that looks busy for ever.
  for (int i = 0; i < 20; ++i) {
    REQUIRE(application.engine.launch({64}, 10).ok());
    application.board->clock.advance(20ms);
    (void)application.loop.round();
  }
  application.board->requested.clear();
  for (int i = 0; i < 3000; ++i) {
    application.engine.task().running_time = 3ms;
    REQUIRE(application.engine.launch({64}, 1).ok());
    application.board->clock.advance(1ms);
    (void)application.loop.round();
  }
  CHECK(application.board->requested.size() > 100);
}

TEST_CASE("where launches of one kernel may be timed, others still wait for gaps") {
  Application application;
  PlayedEngine& engine = application.engine;
  auto package = required(KernelPackage::open(test::played_package(), "played"));
  auto state = required(detail::KernelState::create(application.board->device, package, 4));
  engine.engine->add_kernel(std::move(state), nullptr).in_place.allowed = true;
  application.board->requested.clear();
  for (int i = 0; i < 3000; ++i) {
    engine.task().running_time = 3ms;
    REQUIRE(engine.launch({64}, 1).ok());
    application.board->clock.advance(1ms);
    (void)application.loop.round();
  }
  for (const TrialRequest& request : application.board->requested) {
    CHECK(request.stage == TrialStage::compile);
  }
}

TEST_CASE("what was tuned and launched before background tuning begins is not its own") {
  Application application;
  PlayedEngine& engine = application.engine;
  for (int i = 0; i < 100 && engine.engine->gap_wall() < 250ms; ++i) application.play(1);
  application.board->clock.advance(600s);
  BackgroundOptions options;
  options.max_duty = 1e-4;
  application.board->requested.clear();
  BackgroundLoop next(*engine.engine, options, application.surroundings);
  (void)next.round();  // launches may have gone on for all that time
  CHECK(application.board->requested.empty());
  for (int i = 0; i < 3; ++i) {
    application.board->clock.advance(2s);
    (void)next.round();
    CHECK(engine.engine->status().blocker != Blocker::duty);
  }
}

TEST_CASE("the share of time that was allowed is kept over any stretch") {
  for (const double max_duty : {0.02, 0.1, 0.5}) {
    BackgroundOptions options;
    options.max_duty = max_duty;
    Application application(options);
    const Nanoseconds start = application.board->clock.now();
    application.play(300);
    const Nanoseconds tuned = application.engine.engine->gap_wall();  // compiling uses no device
    const Nanoseconds all = application.board->clock.now() - start;
    CAPTURE(max_duty);
    CHECK(tuned.count() > 0);
    // The bucket's 200 ms and one gap more (DutyLimiter).
    CHECK(static_cast<double>(tuned.count()) <=
          max_duty * static_cast<double>(all.count()) +
              static_cast<double>((200ms + options.max_gap).count()));
  }
}

TEST_CASE("what holds background tuning back is in the status, and goes with it") {
  Application application;
  application.board->sensors.thermal_margin_c = 1.0;
  application.play(2);
  const AgentStatus hot = application.engine.engine->status();
  CHECK(hot.blocker == Blocker::board);
  CHECK(hot.advice == "board too hot");
  application.board->sensors.thermal_margin_c = 50.0;
  application.play(20);
  CHECK(application.engine.engine->status().blocker != Blocker::board);

  BackgroundOptions none;
  none.max_duty = 0;
  Application idle(none);
  idle.play(20);
  CHECK(idle.engine.explain().blocker == Blocker::duty);
  CHECK(idle.engine.explain().advice.find("max_duty") != std::string::npos);
}

TEST_CASE("no duty, no tuning") {
  BackgroundOptions options;
  options.max_duty = 0;
  Application application(options);
  application.play(50);
  CHECK(application.board->requested.empty());
}

TEST_CASE("one gap is never used for longer than was said") {
  BackgroundOptions options;
  options.max_gap = 3ms;
  Application application(options);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(application.engine.launch({64}, 10).ok());
    for (int round = 0; round < 50; ++round) {
      const Nanoseconds before = application.board->clock.now();
      const Nanoseconds sleep = application.loop.round();
      CHECK(application.board->clock.now() - before <= 3ms);
      application.board->clock.advance(std::min<Nanoseconds>(sleep, 5ms));
    }
  }
}

TEST_CASE("a board that is hot, empty or loaded is left alone until it is well again") {
  BoardState hot;
  hot.thermal_margin_c = 1;
  BoardState empty;
  empty.on_mains = false;
  empty.battery = 0.1;
  BoardState loaded;
  loaded.gpu_load = 0.95;
  for (const BoardState& state : {hot, empty, loaded}) {
    Application application;
    application.board->sensors = state;
    application.play(50);
    CHECK(application.board->requested.empty());
    application.board->sensors = BoardState();
    application.play(50);
    CHECK_FALSE(application.board->requested.empty());
  }
}

TEST_CASE("a charged battery, or a cool board, holds nothing back") {
  Application application;
  application.board->sensors.on_mains = false;
  application.board->sensors.battery = 0.9;
  application.board->sensors.thermal_margin_c = 20;
  application.play(50);
  CHECK_FALSE(application.board->requested.empty());
}

TEST_CASE("sensors are read once a second, however often the loop comes round") {
  Application application;
  const Nanoseconds start = application.board->clock.now();
  application.play(100);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(application.board->clock.now() - start);
  CHECK(application.board->sensor_readings >= seconds.count() / 2);
  CHECK(application.board->sensor_readings <= seconds.count() + 1);
}
