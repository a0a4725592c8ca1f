// What tuning saves is told by launches alone: trials find other caches than they do.
#include "tests/unit/repeats.hpp"
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

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
