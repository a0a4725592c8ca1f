// A trial that outlasts whole sessions does not keep what comes after it from being tried.
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::PlayedBoard;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

// The candidates in the order in which they were compiled.
std::vector<Configuration> tried_on(const std::shared_ptr<Disk>& disk, std::size_t most) {
  std::vector<Configuration> tried;
  const auto board = board_that();
  board->on_stage = [&](const TrialRequest& request, TrialOutcome&) {
    const bool is_default = request.configuration == Configuration{1, 1};
    if (request.stage == TrialStage::compile && !is_default) tried.push_back(request.configuration);
  };
  PlayedEngine engine(*board, disk);
  for (int i = 0; i < 2000 && tried.size() < most && !engine.task().exhausted; ++i) {
    REQUIRE(engine.launch().ok());
    engine.tune(50ms);
  }
  return tried;
}

// So many sessions that end well while the helper has it in its hands. The first may have measured
// it before.
std::shared_ptr<Disk> unfinished(const Configuration& configuration, int sessions,
                                 Nanoseconds measured = {}) {
  auto disk = std::make_shared<Disk>();
  for (int i = 0; i < sessions; ++i) {
    const auto board = board_that();
    PlayedEngine engine(*board, disk);
    REQUIRE(engine.launch().ok());
    journal::Trial trial = engine.task().identity;
    trial.configuration = configuration;
    if (i == 0 && measured.count() > 0)
      engine.journal->measured({trial, TrialStatus::correct, measured, measured, 9});
    (void)engine.journal->intent({trial, journal::IntentStage::run, true});
    REQUIRE(engine.journal->shutdown().ok());
  }
  return disk;
}

}  // namespace

TEST_CASE("what two sessions ended on is tried behind all others") {
  const std::vector<Configuration> usual = tried_on(std::make_shared<Disk>(), SIZE_MAX);
  REQUIRE(usual.size() > 10);
  CHECK(tried_on(unfinished(usual[0], 1), 1) == std::vector<Configuration>{usual[0]});
  const std::vector<Configuration> later = tried_on(unfinished(usual[0], 2), SIZE_MAX);
  REQUIRE(later.size() == usual.size());
  CHECK(later.back() == usual[0]);
}

TEST_CASE("what was measured to be fast comes back first, whatever ended on it") {
  const std::vector<Configuration> usual = tried_on(std::make_shared<Disk>(), SIZE_MAX);
  REQUIRE(usual.size() > 10);
  const Configuration last = usual.back();
  CHECK(tried_on(unfinished(last, 2, 100us), 1) == std::vector<Configuration>{last});
  CHECK(tried_on(unfinished(last, 2), 1) == std::vector<Configuration>{usual[0]});
}

TEST_CASE("a journal remembers sixteen unfinished trials at most") {
  const auto disk = unfinished({4, 4}, 2);
  const auto board = board_that();
  PlayedEngine engine(*board, disk);
  REQUIRE(engine.launch().ok());
  const journal::Dangers& dangers = engine.journal->state().dangers();
  journal::Trial trial = engine.task().identity;
  const auto is_unfinished = [&](const Configuration& configuration) {
    trial.configuration = configuration;
    return dangers.is_unfinished(trial.who());
  };
  CHECK(is_unfinished({4, 4}));
  CHECK_FALSE(is_unfinished({2, 4}));
  for (std::int64_t i = 0; i < 16; ++i) {
    trial.configuration = {100 + i, 1};
    (void)engine.journal->intent({trial, journal::IntentStage::run, true});
    REQUIRE(engine.journal->shutdown().ok());
  }
  CHECK_FALSE(is_unfinished({4, 4}));
}
