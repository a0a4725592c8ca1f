// What the agent expects of a stage, which a gap has to offer.
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

TEST_CASE("what runs is expected to take its own time, however slow candidates are") {
  const Configuration runs{1, 1};
  const auto board = board_that([&](const Configuration& configuration) {
    const bool slow = configuration != runs && (configuration[0] + configuration[1]) % 2 == 1;
    return RecordedTrial{TrialStatus::correct, slow ? 16ms : 4ms, 20ms};
  });
  PlayedEngine engine(*board);
  REQUIRE(engine.launch({64}, 5000).ok());
  std::size_t seen = 0;
  for (int i = 0; i < 1000; ++i) {
    const Nanoseconds needs = engine.idle(1us).needs;  // fits nothing that runs
    const std::size_t before = board->requested.size();
    engine.tune(40ms);
    if (needs == 0ns || board->requested.size() == before || engine.explain().evaluated < 5) {
      continue;
    }
    const TrialRequest& request = board->requested[before];
    if (request.stage != TrialStage::measure || request.configuration != runs) continue;
    CHECK(needs < 8ms);
    ++seen;
  }
  CHECK(seen > 20);
}
