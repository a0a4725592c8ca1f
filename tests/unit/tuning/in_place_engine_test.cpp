// Candidates timed by the application's own launches, with replayed trials.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

const Configuration kSlowDefault{1, 1};

bool is_wrong(const Configuration& configuration) { return configuration[0] % 5 == 0; }

// Everything is a fifth faster than the default.
RecordedTrial fifth_faster(const Configuration& configuration) {
  return {TrialStatus::correct, configuration == kSlowDefault ? 1000us : 800us, 20ms};
}

// Best of 256: a tenth faster than the others of its three kinds; some give wrong results.
RecordedTrial of_three_kinds(const Configuration& configuration) {
  if (configuration == kSlowDefault) return {TrialStatus::correct, 1000us, 20ms};
  if (is_wrong(configuration)) return {TrialStatus::correctness, 100us, 20ms};
  const std::int64_t kind = (configuration[0] + configuration[1]) % 3;
  return {TrialStatus::correct, kind == 0 ? 900us : kind == 1 ? 1000us : 1100us, 20ms};
}

}  // namespace

TEST_CASE("three checked candidates race with what runs, and what they cost is charged") {
  const auto board = board_that(of_three_kinds);
  const auto launches = board->device.launch_script;
  std::map<std::string, int> launched;
  board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
    ++launched[options];
    return launches(options);
  };
  PlayedEngine engine(*board);
  engine.kernel->in_place = {true, 0.5};
  REQUIRE(engine.launch({64}, 20000).ok());
  engine.task().said_launches = 1e6;
  const auto racers = [&] { return engine.task().variants.racers(); };
  for (int i = 0; i < 1000 && racers() < 3; ++i) engine.idle_through(100ms);
  REQUIRE(racers() == 3);
  CHECK(engine.explain().blocker == Blocker::in_place);
  CHECK(engine.explain().trying != "");
  CHECK(engine.idle(1s).stages == 0);  // launches have the say
  const Nanoseconds charged = engine.task().charged;
  const std::uint64_t evaluated = engine.explain().evaluated;
  std::vector<Nanoseconds> expected;
  for (std::size_t i = 0; i < 3; ++i) {
    expected.push_back(of_three_kinds(engine.task().variants.racer(i).configuration).run);
  }
  launched.clear();
  int needed = 0;
  while (engine.task().race != nullptr && needed < 100) {
    REQUIRE(engine.launch().ok());
    (void)engine.idle(1ns);
    ++needed;
  }
  CHECK(needed >= 18);
  CHECK(needed <= 20);  // they do not begin with a cycle
  CHECK(engine.explain().evaluated == evaluated + 3);
  const Nanoseconds best =
      std::min(Nanoseconds(1000us), *std::min_element(expected.begin(), expected.end()));
  CHECK(engine.task().running_time == best);
  CHECK(launched.size() == 4);
  if (std::count(expected.begin(), expected.end(), 1100us) > 0)
    CHECK(engine.task().charged > charged);
}

TEST_CASE("a race may slow launches by a thousandth, also where less is asked for") {
  for (const double slowdown : {0.001, 0.0, -1.0, std::nan("")}) {
    CAPTURE(slowdown);
    const auto board = board_that([](const Configuration& configuration) -> RecordedTrial {
      return {TrialStatus::correct, configuration == kSlowDefault ? 1000us : 1200us, 20ms};
    });
    PlayedEngine engine(*board);
    engine.kernel->in_place.allowed = true;
    engine.kernel->in_place.max_slowdown = slowdown;
    REQUIRE(engine.launch({64}, 20000).ok());
    for (int i = 0; i < 1000 && engine.task().variants.racers() == 0; ++i)
      engine.idle_through(100ms);
    REQUIRE(engine.task().variants.racers() > 0);
    const std::uint32_t racers = static_cast<std::uint32_t>(engine.task().variants.racers());
    CHECK(engine.task().race->turns() == detail::LaunchTurns::pack(200 * racers, racers));
  }
}

TEST_CASE("what is wrong never races, and what the driver refuses leaves what runs alone") {
  const auto board = board_that(of_three_kinds);
  const auto launches = board->device.launch_script;
  int refusals = 0, wrong = 0;
  bool refuse = false;
  board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
    const Configuration configuration{fake::option(options, "A"), fake::option(options, "B")};
    wrong += is_wrong(configuration) && configuration != kSlowDefault;
    if (refuse && configuration[0] > 8) {
      ++refusals;
      return Status(StatusCode::device_error, "no resources");
    }
    return launches(options);
  };
  PlayedEngine engine(*board);
  engine.kernel->in_place = {true, 0.5};
  REQUIRE(engine.launch({64}, 20000).ok());
  engine.task().said_launches = 1e6;
  for (int i = 0; i < 3000; ++i) {
    refuse = engine.task().race != nullptr;
    REQUIRE(engine.launch().ok());
    refuse = false;
    engine.idle_through(20ms);
  }
  CHECK(wrong == 0);
  CHECK(refusals > 0);
  CHECK(engine.task().running_time == 900us);
}

TEST_CASE("a candidate that does not build for launches is rejected, and the default goes on") {
  const auto board = board_that(fifth_faster);
  idletune::test::Messages said;
  AgentOptions options;
  said.collect(options);
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  engine.kernel->in_place = {true, 0.5};
  REQUIRE(engine.launch({64}, 20000).ok());
  engine.task().said_launches = 1e6;
  board->device.compile_script = [](const CompileRequest&) {
    return Status(StatusCode::compile_error, "scripted");
  };
  for (int i = 0; i < 100; ++i) {
    REQUIRE(engine.launch().ok());
    engine.idle_through(20ms);
  }
  CHECK(said.count(": reject_failed (compile") > 0);
  CHECK(said.count("does not build for launches: scripted") > 0);
  CHECK(said.count(": adopt (") == 0);
  CHECK(engine.task().running() == kSlowDefault);
}

TEST_CASE("of a candidate that may not run any more nothing is recorded") {
  const auto board = board_that(fifth_faster);
  PlayedEngine engine(*board);
  engine.kernel->in_place = {true, 0.5};
  REQUIRE(engine.launch({64}, 20000).ok());
  engine.task().said_launches = 1e6;
  std::vector<Configuration> built;
  board->device.compile_script = [&](const CompileRequest& request) {
    const std::string options(request.options);
    built.push_back({fake::option(options, "A"), fake::option(options, "B")});
    engine.journal->quarantine(engine.task().trial(built.back()), journal::QuarantineReason::crash,
                               "elsewhere, meanwhile");
    return Status();
  };
  for (int i = 0; i < 100; ++i) engine.idle_through(20ms);
  REQUIRE_FALSE(built.empty());
  for (const Configuration& configuration : built) {
    CHECK_FALSE(engine.journal->state().measurement(engine.key_of(configuration)));
  }
}

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
  for (int frame = 0; frame < 2000 && engine.task().running() == kSlowDefault; ++frame)
    engine.play(1, 2, 30ms);
  CHECK(engine.explain().evaluated >= 2);
  CHECK(engine.task().running() != kSlowDefault);
  CHECK(engine.task().running_time == 800us);
}

TEST_CASE(
    "what racers cost between two looks is bounded and charged, however many launches there are") {
  const auto board = board_that([](const Configuration& configuration) {
    return RecordedTrial{TrialStatus::correct, configuration == kSlowDefault ? 1000us : 1200us,
                         20ms};
  });
  const auto launches = board->device.launch_script;
  Nanoseconds lost{0};
  board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
    const bool standard = fake::option(options, "A") == 1 && fake::option(options, "B") == 1;
    if (!standard) lost += 200us;
    return launches(options);
  };
  PlayedEngine engine(*board);
  engine.kernel->in_place = {true, 0.5};
  REQUIRE(engine.launch({64}, 20000).ok());
  engine.task().said_launches = 1e7;
  for (int i = 0; i < 1000 && engine.task().variants.racers() < 1; ++i) engine.idle_through(50ms);
  REQUIRE(engine.task().variants.racers() >= 1);
  lost = Nanoseconds{0};
  const Nanoseconds charged = engine.task().charged;
  REQUIRE(engine.launch({64}, 20000).ok());
  CHECK(lost <= 40 * 200us);
  (void)engine.idle(1ns);
  CHECK(engine.task().charged - charged >= lost - 2 * 200us);
}

TEST_CASE("what was compared with something that runs no more is compared anew") {
  Configuration second;
  const auto board = board_that([&](const Configuration& configuration) -> RecordedTrial {
    const bool is_default = configuration == kSlowDefault;
    const Nanoseconds time = is_default ? 1000us : configuration == second ? 500us : 600us;
    return {TrialStatus::correct, time, 20ms};
  });
  PlayedEngine engine(*board);
  engine.kernel->in_place = {true, 0.5};
  REQUIRE(engine.launch({64}, 20000).ok());
  engine.task().said_launches = 1e6;
  while (engine.task().variants.racers() == 0) engine.idle_through(30ms);
  const auto trying = [&] {
    const auto* work = engine.task().work.trying();
    return work != nullptr ? &work->plan : nullptr;
  };
  while (trying() == nullptr || trying()->pairs() == 0) engine.tune(1ms);
  second = trying()->context().candidate;
  CHECK(trying()->context().incumbent == kSlowDefault);
  while (engine.task().race != nullptr) {
    REQUIRE(engine.launch().ok());
    (void)engine.idle(1ns);
  }
  const Configuration first = engine.explain().running;
  REQUIRE(first != kSlowDefault);
  REQUIRE(first != second);
  REQUIRE(trying() != nullptr);
  board->requested.clear();
  while (engine.explain().running == first) engine.tune(1ms);
  CHECK(engine.explain().running == second);
  CHECK(std::count_if(
            board->requested.begin(), board->requested.end(),
            [&](const TrialRequest& request) { return request.configuration == first; }) >= 5);
}

TEST_CASE("where too much is exposed a candidate waits, and nothing false is said of it") {
  const auto board = board_that(fifth_faster);
  PlayedEngine engine(*board);
  engine.kernel->in_place = {true, 0.5};
  REQUIRE(engine.launch({64}, 20000).ok());
  engine.task().said_launches = 1e6;
  std::vector<journal::Trial> others(63, engine.task().identity);
  for (std::size_t i = 0; i < others.size(); ++i) {
    others[i].shape = Shape{static_cast<std::int64_t>(1000 + i)};
    REQUIRE(engine.journal->exposed(others[i], journal::Where::launches) != 0);
  }
  engine.play(100, 1, 20ms);
  CHECK(engine.explain().blocker == Blocker::build);
  engine.journal->state().for_each_measurement(
      [](const journal::Measurement& each) { CHECK(each.status == TrialStatus::correct); });
  for (const journal::Trial& each : others) engine.journal->parked(each, journal::Where::launches);
  engine.play(100, 20, 20ms);
  CHECK(engine.explain().running != kSlowDefault);
}
