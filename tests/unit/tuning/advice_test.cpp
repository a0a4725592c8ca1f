// What explanations advise: the figures in them.

#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

TEST_CASE("advice that compares two durations tells them apart, in milliseconds") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  const auto advice = [&](Nanoseconds needed, Nanoseconds offered) {
    engine.task().blocker = Blocker::gap;
    engine.task().gap_needed = needed;
    engine.engine->set_longest_gap(offered);
    return engine.explain().advice.substr(0, 69);
  };
  CHECK(advice(17500us, 17100us) ==
        "the next stage needs a gap of 17.5 ms, the longest offered was 17.1 m");
  CHECK(advice(18000001ns, 18000000ns) ==
        "the next stage needs a gap of 18.000001 ms, the longest offered was 1");
  CHECK(advice(20us, 3ns) ==
        "the next stage needs a gap of 0.02 ms, the longest offered was 3e-06 ");
  CHECK(advice(17500us, 18200us) ==
        "the next stage needs a gap of 17.5 ms, of which too little was left");
}
