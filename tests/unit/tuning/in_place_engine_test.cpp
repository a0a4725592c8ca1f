// Candidates timed by the application's own launches, with replayed trials.
#include <algorithm>

#include "agent/tuning/background_loop.hpp"
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::PlayedBoard;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

const Configuration kDefault{1, 1};

// Everything is a fifth faster than the default.
RecordedTrial fifth_faster(const Configuration& configuration) {
  return {TrialStatus::correct, configuration == kDefault ? 1000us : 800us, 20ms};
}

}  // namespace

TEST_CASE("the rhythm of the launches favours neither the candidate nor what runs") {
  const auto board = board_that(fifth_faster);
  // The first launch of each frame of two finds cold caches.
  const auto launches = board->device.launch_script;
  int count = 0;
  board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
    const Nanoseconds time = *launches(options);
    return count++ % 2 == 0 ? 3 * time : time;
  };
  PlayedEngine engine(*board);
  engine.kernel->in_place = {true, 0.05};
  engine.task().said_launches = 1e6;
  for (int frame = 0; frame < 2000 && engine.task().running() == kDefault; ++frame)
    engine.play(1, 2, 30ms);
  CHECK(engine.explain().evaluated == 1);
  CHECK(engine.task().running() != kDefault);
  CHECK(engine.task().running_time == 800us);
}
