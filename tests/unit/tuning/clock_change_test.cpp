// A board that throttles tries nothing more for it.
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

// How many configurations an application tries whose board runs at so many tenths in between. Its
// search ends before. What compiling takes is no matter of that clock.
std::uint64_t tried(int tenths, Nanoseconds compile) {
  int factor = 10;
  const auto board = board_that([&](const Configuration& configuration) {
    RecordedTrial trial = test::played(configuration);
    trial.run = trial.run * factor / 10;
    trial.compile = compile;
    return trial;
  });
  AgentOptions options;
  if (compile < 1s) options.idle_cost = 1;
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  REQUIRE(engine.launch().ok());
  engine.task().said_launches = 20000;
  engine.play(300, 20, 6s);
  REQUIRE(engine.explain().verdict == Verdict::stop);
  factor = tenths;
  engine.play(300, 20, 6s);
  CHECK(engine.task().default_time == test::played({1, 1}).run * tenths / 10);  // it was noticed
  factor = 10;
  engine.play(300, 20, 6s);
  return engine.explain().evaluated;
}

}  // namespace

TEST_CASE("a comparison that comes to nothing is not begun again at once") {
  int tenths = 10;
  const auto board = board_that();
  const auto launches = board->device.launch_script;
  board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
    const Result<Nanoseconds> time = launches(options);
    const bool untuned = fake::option(options, "A") == 1 && fake::option(options, "B") == 1;
    return *time * (untuned ? 10 : tenths) / 10;
  };
  PlayedEngine engine(*board);
  engine.play(300, 40, 1s);
  REQUIRE(engine.task().variants.adopted() != nullptr);
  int failed = 0;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.stage != TrialStage::prepare) return;
    ++failed;
    outcome.status = TrialStatus::constraints;  // what was captured is no more, say
  };
  tenths = 13;
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(engine.launch({64}, 4).ok());
    (void)engine.tune(10ms);
  }
  CHECK(failed < 20);
}

TEST_CASE("a change of clock and back makes the agent try not one configuration more") {
  for (const Nanoseconds compile : {Nanoseconds(1us), Nanoseconds(5s)}) {
    CAPTURE(compile.count());
    const std::uint64_t steady = tried(10, compile);
    CHECK(steady > 20);
    CHECK(steady < 200);
    for (const int tenths : {16, 30}) {
      CAPTURE(tenths);
      CHECK(tried(tenths, compile) == steady);
    }
  }
}

TEST_CASE("comparing again what was adopted keeps to the limit, the ledger and what is launched") {
  const auto board = board_that();
  board->device.queue_has_profiling = false;
  AgentOptions options;
  SUBCASE("limit") { options.max_tuning = 300ms; }
  SUBCASE("ledger") { options.idle_cost = 1; }
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  engine.play(300, 40, 1s);
  REQUIRE(engine.task().variants.adopted() != nullptr);
  const std::size_t before = board->requested.size();
  if (options.max_tuning > 0ns) {
    engine.play(3600, 40, 1s);
    CHECK(engine.explain().blocker == Blocker::limit);
    CHECK(board->requested.size() == before);
  } else {
    for (int i = 0; i < 1000; ++i) engine.idle_through(301s);
    CHECK(board->requested.size() < before + 100);  // one comparison, since something was launched
  }
}
