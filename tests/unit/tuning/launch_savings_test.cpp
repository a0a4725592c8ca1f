// What tuning saves is told by launches alone: trials find other caches than they do.
#include "tests/unit/repeats.hpp"
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

TEST_CASE("launches that nobody timed save something however many there were since the last look") {
  const auto board = board_that();
  board->device.queue_has_profiling = false;
  PlayedEngine engine(*board);
  engine.play(200, 40, 1s);
  REQUIRE(engine.task().variants.adopted() != nullptr);
  REQUIRE(engine.task().least_saving.count() > 0);
  const double saved = engine.engine->status().saved_seconds;
  // So many that nanoseconds times launches are more than 64 bits hold.
  const double saving = static_cast<double>(engine.task().least_saving.count());
  const double untuned = saving + static_cast<double>(engine.task().launch_time().count());
  const double launches = 1.4e19 / (6e11 * saving / untuned);
  engine.task().slot.launches += static_cast<std::uint64_t>(launches);
  board->clock.advance(600s);
  (void)engine.idle(0ns);
  CHECK(engine.engine->status().saved_seconds > saved);
}

TEST_CASE("launches that take longer than trials say what they save all the same" *
          doctest::skip(test::fewer_repeats())) {
  for (const int slower : {1, 2, 4}) {
    CAPTURE(slower);
    const auto board = board_that();
    double took = 0;
    double untuned = 0;
    const auto launch = board->device.launch_script;
    const Nanoseconds of_default = test::played({1, 1}).run * slower;
    board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
      const Result<Nanoseconds> time = launch(options);
      board->clock.advance(*time * (slower - 1));
      took += static_cast<double>((*time * slower).count());
      untuned += static_cast<double>(of_default.count());
      return *time * slower;
    };
    PlayedEngine engine(*board);
    engine.play(400, 40, 50ms);
    CHECK(engine.explain().evaluated > 10);
    const double saved = engine.engine->status().saved_seconds * 1e9;
    CHECK(saved > 0.9 * (untuned - took));
    CHECK(saved <= untuned - took);
  }
}
