// What is slower than the default in the application does not stay, whatever trials say and
// whatever keeps the tuner busy.
#include <string>

#include "agent/tuning/background_loop.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::PlayedBoard;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

const Shape kContested{64};

// From `slow` on whatever is not the default takes 10 ms in the application's launches.
void slow_down(PlayedBoard& board, const bool& slow) {
  const auto launches = board.device.launch_script;
  board.device.launch_script = [&board, &slow,
                                launches](const std::string& options) -> Result<Nanoseconds> {
    const bool untuned = fake::option(options, "A") == 1 && fake::option(options, "B") == 1;
    if (!slow || untuned) return launches(options);
    board.clock.advance(10ms);
    return Nanoseconds(10ms);
  };
}

void adopt_something(PlayedEngine& engine) {
  REQUIRE(engine.launch(kContested, 1000).ok());
  while (engine.task().variants.adopted() == nullptr) engine.tune(10ms);
}

}  // namespace

TEST_CASE("what is faster in trials and slower in the application loses a duel with the default" *
          doctest::skip(test::fewer_repeats())) {
  bool slow = false;
  const auto board = board_that();
  slow_down(*board, slow);
  PlayedEngine engine(*board);
  REQUIRE(engine.launch(kContested, 1000).ok());
  engine.tune(10h);
  REQUIRE(engine.task().variants.adopted() != nullptr);
  slow = true;
  int launches = 0;
  while (engine.task().variants.adopted() != nullptr && launches < 20000) {
    REQUIRE(engine.launch(kContested, 10).ok());
    engine.idle_through(100ms);
    launches += 10;
  }
  CHECK(launches < 2000);
  // Nor does it come back at once: each further loss makes it wait longer.
  int tuned = 0;
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(engine.launch(kContested, 10).ok());
    engine.idle_through(100ms);
    tuned += engine.task().variants.adopted() != nullptr;
  }
  CHECK(tuned < 1500);
  slow = false;
  for (int i = 0; i < 200; ++i) {
    REQUIRE(engine.launch(kContested, 10000).ok());
    engine.tune(1s);
  }
  CHECK(engine.task().variants.adopted() != nullptr);
}

TEST_CASE("what launches said of a configuration outlives a restart, until it has waited") {
  bool slow = false;
  const auto disk = std::make_shared<Disk>();
  Configuration loser;
  std::uint64_t launches = 0;
  {
    const auto board = board_that();
    slow_down(*board, slow);
    PlayedEngine engine(*board, disk);
    REQUIRE(engine.launch(kContested, 1000).ok());
    engine.tune(10h);
    loser = engine.task().running();
    slow = true;
    while (engine.task().running() == loser) {
      REQUIRE(engine.launch(kContested, 10).ok());
      engine.idle_through(100ms);
    }
    launches = engine.task().launches();
    engine.engine.reset();
    journal::TrialKey key;
    std::size_t told = 0;
    engine.journal->state().for_each_measurement([&](const journal::Measurement& measurement) {
      if (measurement.trial.configuration == loser) key = measurement.trial.key();
    });
    engine.journal->state().for_each_demotion(
        key.shape_key(), [&](const journal::Demotion& demotion) {
          ++told;
          CHECK(demotion.why == journal::DemotionReason::slower_in_launches);
          CHECK(demotion.configuration == loser);
          CHECK(demotion.losses == 1);
          CHECK(demotion.ratio_millionths > 1050000);
          CHECK(demotion.launches == launches);
        });
    CHECK(told == 1);
    CHECK(engine.journal->shutdown().ok());
  }
  const auto board = board_that();
  slow_down(*board, slow);
  PlayedEngine engine(*board, disk, {}, 2);
  std::uint64_t returned = 0;
  for (int i = 0; i < 400 && returned == 0; ++i) {
    REQUIRE(engine.launch(kContested, 10).ok());
    engine.tune(1h);
    if (engine.task().running() == loser) returned = engine.task().launches();
  }
  CHECK((returned == 0 || returned >= 900));
}

TEST_CASE("a first launch that took long says nothing of the default") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto board = board_that();
    PlayedEngine engine(*board, disk);
    REQUIRE(engine.launch(kContested, 1000).ok());
    engine.tune(10h);
    CHECK(engine.journal->shutdown().ok());
  }
  const auto board = board_that();
  const Nanoseconds untuned = test::played({1, 1}).run;
  const auto launches = board->device.launch_script;
  bool first = true;
  board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
    const Result<Nanoseconds> time = launches(options);
    const bool is_default = fake::option(options, "A") == 1 && fake::option(options, "B") == 1;
    return *time * (is_default && std::exchange(first, false) ? 50 : 1);
  };
  PlayedEngine engine(*board, disk);
  for (int i = 0; i < 1000 && (first || engine.task().race != nullptr); ++i) {
    REQUIRE(engine.launch(kContested, 1).ok());
    engine.idle_through(100ms);
  }
  REQUIRE_FALSE(first);
  CHECK(engine.task().default_time < 2 * untuned);
}

TEST_CASE("what loses in production is demoted although a trial waits for a gap") {
  bool slow = false;
  const auto board = board_that();
  slow_down(*board, slow);
  PlayedEngine engine(*board);
  adopt_something(engine);
  while (engine.task().work.trying() == nullptr) engine.tune(1ms);
  slow = true;
  int looks = 0;
  for (; looks < 5000 && engine.task().variants.adopted() != nullptr; ++looks) {
    REQUIRE(engine.launch(kContested, 4).ok());
    (void)engine.idle(0ns);
  }
  CHECK(looks < 2000);
}

TEST_CASE("production is watched while the board allows no tuning") {
  bool slow = false;
  const auto board = board_that();
  slow_down(*board, slow);
  PlayedEngine engine(*board);
  adopt_something(engine);
  slow = true;
  board->sensors.gpu_load = 0.95;
  const detail::Surroundings around = board->surroundings();
  detail::BackgroundLoop loop(*engine.engine, BackgroundOptions(), around);
  engine.kernel->state->log_launches(&board->clock);
  const Nanoseconds begin = board->clock.now();
  while (engine.task().variants.adopted() != nullptr && board->clock.now() - begin < 1h) {
    REQUIRE(engine.launch(kContested, 4).ok());
    board->clock.advance(loop.round());
  }
  CHECK(board->clock.now() - begin < 10min);
}

TEST_CASE(
    "what runs for its class is compared with the default at each shape, at a bounded price") {
  const auto board = board_that();
  const auto launches = board->device.launch_script;
  bool elsewhere = false;
  int of_class = 0;
  board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
    const bool untuned = fake::option(options, "A") == 1 && fake::option(options, "B") == 1;
    if (!elsewhere || untuned) return launches(options);
    ++of_class;
    board->clock.advance(40ms);
    return Nanoseconds(40ms);
  };
  PlayedEngine engine(*board);
  adopt_something(engine);
  elsewhere = true;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(engine.launch({4000}, 100).ok());
    (void)engine.idle(0ns);
  }
  CHECK(of_class > 0);
  CHECK(of_class <= 16);
  CHECK(engine.explain({4000}).selection == Selection::fallback);
  CHECK(engine.explain({4000}).charged_ms > 0);
}

TEST_CASE("however much is asked of an adoption, what is slower than the default does not stay") {
  bool slow = false;
  const auto board = board_that();
  const auto launches = board->device.launch_script;
  board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
    auto time = launches(options);
    const bool untuned = fake::option(options, "A") == 1 && fake::option(options, "B") == 1;
    if (!slow || untuned) return time;
    board->clock.advance(5ms - *time);
    return Nanoseconds(5ms);  // the default takes 4
  };
  AgentOptions options;
  options.adoption_margin = 0.3;
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  adopt_something(engine);
  slow = true;
  for (int i = 0; i < 1000 && engine.task().variants.adopted() != nullptr; ++i) {
    REQUIRE(engine.launch(kContested, 20).ok());
    (void)engine.idle(1ns);
    board->clock.advance(1ms);
  }
  CHECK(engine.task().variants.adopted() == nullptr);
}
