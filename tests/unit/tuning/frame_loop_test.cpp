// An application at 30 frames a second, with four launches in each and nothing to do until the
// next one: what tuning gets done by how it is given time. Everything is played.
#include <algorithm>
#include <random>

#include "agent/tuning/background_loop.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::detail::BackgroundLoop;
using idletune::test::board_that;
using idletune::test::played;
using idletune::test::PlayedBoard;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

enum class Way { idle, background, plain, in_place };

constexpr Nanoseconds kFrame = 33ms;

double seconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-9; }

// A compiler that takes ten frames.
RecordedTrial compiled_slowly(const Configuration& configuration) {
  RecordedTrial trial = played(configuration);
  trial.compile = 300ms;
  return trial;
}

struct Camera {
  explicit Camera(Way chosen, const BackgroundOptions& options = {},
                  const AgentOptions& agent_options = {})
      : way(chosen),
        board(board_that(compiled_slowly)),
        surroundings(board->surroundings()),
        engine(*board, std::make_shared<idletune::test::Disk>(), agent_options),
        loop(*engine.engine, options, surroundings) {
    board->device.queue_has_profiling = way != Way::plain;
    if (way != Way::idle) engine.kernel->state->log_launches(&board->clock);
    engine.kernel->in_place.allowed = way == Way::in_place;
    engine.task().said_launches = 1e7;
    board->on_stage = [this](const TrialRequest& request, TrialOutcome&) {
      const bool on_device = request.stage != TrialStage::compile;
      compiled += !on_device;
      outside += on_device && (board->clock.now() < idle_from || board->clock.now() >= idle_until);
    };
  }

  void play(Nanoseconds time) {
    const Nanoseconds end = board->clock.now() + time;
    while (board->clock.now() < end) frame();
  }

  void frame() {
    const Nanoseconds next = board->clock.now() + kFrame;
    REQUIRE(engine.launch({64}, 4).ok());
    idle_from = board->clock.now();
    idle_until = next + std::chrono::microseconds(unsteady(random));
    if (way == Way::idle) {
      (void)engine.idle(next - board->clock.now());
    } else {
      while (board->clock.now() < idle_until) {
        const Nanoseconds sleep = loop.round();
        board->clock.advance(std::min(sleep, idle_until - board->clock.now()));
      }
    }
    board->clock.advance(idle_until - board->clock.now());
  }

  std::uint64_t tried() { return engine.explain().evaluated; }
  // 1: as fast as the best configuration.
  double above_best() {
    return static_cast<double>(played(engine.task().running()).run.count()) / 1e6;
  }

  const Way way;
  const std::unique_ptr<PlayedBoard> board;
  const detail::Surroundings surroundings;
  PlayedEngine engine;
  BackgroundLoop loop;
  Nanoseconds idle_from{0}, idle_until{0};
  int compiled = 0;
  int outside = 0;  // stages on the device that began while the application used it
  std::mt19937 random{1};
  std::uniform_int_distribution<int> unsteady{0, 3000};  // us by which a frame may be late
};

}  // namespace

TEST_CASE("a loop at 30 frames a second is tuned as far by any way of giving time" *
          doctest::skip(test::fewer_repeats())) {
  Camera by_idle(Way::idle);
  by_idle.play(60s);
  CHECK(by_idle.tried() >= 100);
  CHECK(by_idle.above_best() <= 1.2);
  for (const Way way : {Way::background, Way::plain, Way::in_place}) {
    CAPTURE(static_cast<int>(way));
    Camera camera(way);
    camera.play(60s);
    CHECK(camera.tried() >= by_idle.tried() * 8 / 10);
    CHECK(camera.above_best() <= 1.2);
    CHECK(camera.outside <= 3);  // before the rhythm of the launches was known
  }
}

TEST_CASE("idle time is given back while a compiler works that will not end in it") {
  Camera camera(Way::idle);
  camera.play(10s);
  REQUIRE(camera.tried() > 3);
  int waited = 0;
  for (int i = 0; i < 100; ++i) {
    const std::size_t stages = camera.board->requested.size();
    const IdleReport report = camera.engine.idle(20ms);
    if (report.waiting && report.stages == 0 && camera.board->requested.size() == stages) {
      CHECK(report.used == 0ns);
      ++waited;
    }
    camera.board->clock.advance(33ms - report.used);
    REQUIRE(camera.engine.launch({64}, 4).ok());
  }
  CHECK(waited > 50);
}

TEST_CASE("a compiler that ends in the idle time is waited for, and the step goes on") {
  const auto board = board_that();  // 20 ms
  PlayedEngine engine(*board);
  REQUIRE(engine.launch({64}, 5000).ok());
  engine.task().said_launches = 1e7;
  engine.play(5, 50, 1s);
  REQUIRE(engine.explain().evaluated > 3);
  CHECK(engine.idle(1s).steps > 3);
}

TEST_CASE("waiting for a compiler takes nothing of the share of time for the device") {
  BackgroundOptions little;
  little.max_duty = 0.05;
  BackgroundOptions all;
  all.max_duty = 1;
  Camera limited(Way::background, little), unlimited(Way::background, all);
  limited.play(30s);
  unlimited.play(30s);
  CHECK(limited.tried() >= unlimited.tried() * 9 / 10);
}

TEST_CASE("compilations keep the share of processor time that is allowed, in every way") {
  for (const double share : {0.05, 0.25}) {
    for (const Way way : {Way::idle, Way::background, Way::in_place}) {
      CAPTURE(share);
      AgentOptions options;
      options.max_compile_share = share;
      Camera camera(way, {}, options);
      camera.play(60s);
      const double seconds = 0.3 * camera.compiled;
      CHECK(seconds <= share * 60 + 2 + 0.3);
      CHECK(seconds >= share * 60 + 1);
      CHECK(camera.tried() > 10);
    }
  }
}

TEST_CASE("nothing is compiled in idle time where no share is allowed, but where users grant it") {
  AgentOptions options;
  options.max_compile_share = 0;
  Camera camera(Way::idle, {}, options);
  camera.play(20s);
  CHECK(camera.compiled == 0);
  CHECK(camera.engine.idle(10ms).why ==
        std::string("compilations have had their share of processor time"));
  const Explanation blocked = camera.engine.explain();
  CHECK(blocked.blocker == Blocker::compile);
  CHECK(std::string(blocker_name(blocked.blocker)) == "compile");
  CHECK(blocked.advice ==
        "the next compilation takes some 601 ms of processor time, which max_compile_share allows "
        "never: raise it, or call tune_now()");
  CHECK(camera.engine.engine->status().blocker == Blocker::compile);
  camera.engine.tune(10s);
  CHECK(camera.compiled > 0);
}

TEST_CASE("on a queue without profiling no more is credited than time has passed") {
  Camera camera(Way::plain);
  for (int i = 0; i < 12; ++i) {
    // The default was timed once, far too slow: a loaded machine.
    if (camera.tried() > 0) camera.engine.task().running_time = 1s;
    camera.play(5s);
    const AgentStatus status = camera.engine.engine->status();
    const double passed = static_cast<double>(camera.board->clock.now().count()) * 1e-9;
    CHECK(status.kernel_seconds + status.saved_seconds <= passed);
    CHECK(status.charged_seconds <= 0.02 * passed + status.saved_seconds + 0.02);
  }
  CHECK(camera.tried() > 3);
}

TEST_CASE("on a queue without profiling a few launches begin the account if they took long") {
  const auto tried_after = [](int launches, int slower) {
    const auto board = board_that([slower](const Configuration& configuration) {
      RecordedTrial trial = played(configuration);
      trial.run *= slower;
      return trial;
    });
    board->device.queue_has_profiling = false;
    PlayedEngine engine(*board);
    engine.task().said_launches = 1e7;
    REQUIRE(engine.launch({64}, launches).ok());
    (void)engine.idle(100s);
    const AgentStatus status = engine.engine->status();
    CHECK(status.charged_seconds <= 0.02 * status.kernel_seconds + status.saved_seconds);
    return engine.task().default_time.count() > 0;
  };
  CHECK(tried_after(8, 500));        // of 2 s
  CHECK_FALSE(tried_after(6, 500));  // timing the default takes 7
  CHECK_FALSE(tried_after(8, 1));
}

TEST_CASE(
    "on a queue without profiling a shape that was launched once holds no other's search up") {
  const auto board = board_that();
  board->device.queue_has_profiling = false;
  PlayedEngine engine(*board);
  REQUIRE(engine.launch({32}).ok());
  for (int i = 0; i < 3000 && engine.explain({64}).evaluated < 255; ++i) {
    REQUIRE(engine.launch({64}, 20).ok());
    (void)engine.idle(50ms);
    board->clock.advance(1ms);
  }
  CHECK(engine.explain({64}).evaluated == 255);
}

TEST_CASE("on a queue without profiling what comparisons have shown counts as saved, and no more") {
  Camera camera(Way::plain);
  const double default_s = seconds(played({1, 1}).run);
  double most = 0;  // that can have been saved
  double least_s = default_s;
  for (int second = 0; second < 30; ++second) {
    const std::uint64_t before = camera.engine.task().launches();
    camera.play(1s);
    least_s = std::min(least_s, seconds(played(camera.engine.task().running()).run));
    most += static_cast<double>(camera.engine.task().launches() - before) * (default_s - least_s);
    const double saved = camera.engine.engine->status().saved_seconds;
    CHECK(saved <= most * 1.001);
    if (camera.engine.task().variants.adopted() == nullptr) CHECK(saved == 0);
  }
  CHECK(camera.engine.engine->status().saved_seconds > 0.2 * most);
}

TEST_CASE("where the driver refuses what was adopted nothing is saved, timed or not") {
  for (const bool timed : {true, false}) {
    CAPTURE(timed);
    const auto board = board_that();
    board->device.queue_has_profiling = timed;
    PlayedEngine engine(*board);
    REQUIRE(engine.launch({64}, 1000).ok());
    engine.tune(10h);
    REQUIRE(engine.task().variants.adopted() != nullptr);
    const auto saves = [&] {
      const double before = engine.engine->status().saved_seconds;
      for (int i = 0; i < 20; ++i) {
        REQUIRE(engine.launch({64}, 10).ok());
        board->clock.advance(1s);
        if (i % 5 == 4) (void)engine.idle(0ns);
      }
      return engine.engine->status().saved_seconds > before;
    };
    CHECK(saves());
    const std::string tuned = "A=" + std::to_string(engine.task().running()[0]);
    const auto launches = board->device.launch_script;
    board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
      if (options.find(tuned) != std::string::npos) return Status(StatusCode::device_error, "no");
      return launches(options);
    };
    CHECK_FALSE(saves());
    CHECK(engine.task().variants.adopted() == nullptr);
  }
}

TEST_CASE("on a queue without profiling an adoption is compared with the default again and again") {
  bool spoilt = false;
  const auto board = board_that([&](const Configuration& configuration) {
    RecordedTrial trial = played(configuration);
    if (spoilt && configuration != Configuration{1, 1}) trial.run = 100ms;
    return trial;
  });
  board->device.queue_has_profiling = false;
  PlayedEngine engine(*board);
  engine.task().said_launches = 1e7;
  engine.play(30, 200, 1s);
  REQUIRE(engine.task().variants.adopted() != nullptr);
  REQUIRE(engine.task().least_saving > 0ns);
  spoilt = true;
  for (int minute = 0; minute < 7 && engine.task().variants.adopted() != nullptr; ++minute) {
    board->clock.advance(60s);
    engine.play(2, 10, 1s);
  }
  CHECK(engine.task().variants.adopted() == nullptr);
  CHECK(engine.task().least_saving == 0ns);
}
