#include "agent/host/cli/slow_frames.hpp"

#include <doctest/doctest.h>

using namespace idletune::cli;
using namespace std::chrono_literals;

namespace {

// Plays `seconds` of frames, ten a second; how often they were called slow.
int play(SlowFrames& frames, SlowFrames::Clock::time_point& now, int seconds,
         std::chrono::milliseconds frame) {
  int told = 0;
  for (int i = 0; i < 10 * seconds; ++i) {
    now += 100ms;
    if (frames.ended(now, frame)) ++told;
  }
  return told;
}

}  // namespace

TEST_CASE("frames are slow after three seconds, and again after three more") {
  SlowFrames frames(20ms);
  SlowFrames::Clock::time_point now{};
  CHECK(play(frames, now, 5, 20ms) == 0);
  CHECK(play(frames, now, 3, 30ms) == 0);
  CHECK(play(frames, now, 1, 30ms) == 1);
  CHECK(play(frames, now, 3, 30ms) == 1);
}

TEST_CASE("a short hitch is not told, and the fastest frames are the usual ones") {
  SlowFrames frames(20ms);
  SlowFrames::Clock::time_point now{};
  CHECK(play(frames, now, 2, 30ms) == 0);
  CHECK(play(frames, now, 5, 10ms) == 0);
  CHECK(play(frames, now, 5, 20ms) == 1);
}
