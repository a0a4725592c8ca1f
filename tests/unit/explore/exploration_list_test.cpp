#include "agent/host/explore/exploration.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/unit/explore/scripted_runner.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::explore;
using idletune::explore::test::Killed;
using idletune::explore::test::kVictim;

namespace {

// Twelve configurations at four problems, at three of which those with A = 4 do not exist.
struct ListBench : explore::test::Bench {
  ListBench() {
    settings = Settings::of_list({Shape{1000}, Shape{10}, Shape{50}, Shape{20}});
    settings.rounds = 0;
  }
};

}  // namespace

TEST_CASE(
    "an exploration of a list compiles every configuration once and measures it at every problem") {
  ListBench bench;
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 48);
  CHECK(bench.counts().size() == 48);
  CHECK(bench.count(TrialStatus::correct) == 39);
  CHECK(bench.count(TrialStatus::constraints) == 9);
  CHECK(bench.complete);
  for (const auto& [values, count] : bench.runner.compiles()) CHECK(count == 1);
  for (const ExploredConfiguration& r : bench.results) {
    if (r.status != TrialStatus::correct) continue;
    CHECK(r.samples == std::vector<Nanoseconds>(3, bench.runner.run_time));
  }
}

TEST_CASE("outputs are compared at the smallest problem and at some that are drawn") {
  ListBench bench;
  bench.settings.problems.clear();
  for (std::int64_t n = 1; n <= 64; ++n) bench.settings.problems.push_back(Shape{200 * n});
  bench.settings.checks = 3;
  bench.settings.small_extent = 1000;  // the eight smallest nevertheless
  bench.settings.largest_extent = 200 * 32;
  REQUIRE(bench.live().ok());
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> checked;
  for (const TrialRequest& request : bench.runner.requests) {
    if (request.stage != TrialStage::check) continue;
    const auto values = request.configuration.values();
    checked[{values.begin(), values.end()}].push_back(request.shape[0]);
  }
  CHECK(checked.size() == 12);
  std::set<std::int64_t> all;
  for (const auto& [configuration, sizes] : checked) {
    REQUIRE(sizes.size() == 4);
    CHECK(sizes[0] == 200);
    CHECK(std::max(sizes[1], sizes[2]) <= 1600);
    CHECK(sizes[3] > 1600);
    CHECK(sizes[3] <= 6400);
    all.insert(sizes.begin(), sizes.end());
  }
  CHECK(all.size() > 10);
}

TEST_CASE("a configuration is not run where it was far too slow at the problems most like it") {
  ListBench bench;
  bench.samples = 2;
  bench.settings.problems.clear();
  for (std::int64_t n = 200; n < 400; ++n) bench.settings.problems.push_back(Shape{n});
  bench.settings.problems.push_back(Shape{400000});
  // As fast as the default far away.
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    const bool is_default = request.configuration == Configuration({1, 10});
    const bool slow = !is_default && request.shape[0] < 400000;
    for (Nanoseconds& sample : outcome.samples) sample = Nanoseconds(slow ? 9000 : 1000);
  };
  SUBCASE("in one life") { REQUIRE(bench.live().ok()); }
  SUBCASE("in two") {
    REQUIRE(bench.live([](const Exploration::Progress& far) { return far.done > 250; }).ok());
    REQUIRE(bench.live().ok());
    for (const auto& [values, count] : bench.runner.compiles()) CHECK(count <= 2);
  }
  CHECK(bench.complete);
  // The default everywhere, the others at four problems and far away.
  const std::size_t others = bench.listed().size() - 1;
  REQUIRE(others >= 1);
  CHECK(bench.results.size() == 201 + 5 * others);
  // All is done: nothing is compiled to find that out.
  bench.runner.requests.clear();
  REQUIRE(bench.live().ok());
  CHECK(bench.complete);
  CHECK(bench.runner.requests.empty());
}

TEST_CASE("a configuration that is far too slow is run everywhere if asked for") {
  ListBench bench;
  bench.samples = 2;
  bench.settings.far_too_slow = 0;
  bench.settings.problems.clear();
  for (std::int64_t n = 200; n < 220; ++n) bench.settings.problems.push_back(Shape{n});
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    const bool is_default = request.configuration == Configuration({1, 10});
    for (Nanoseconds& sample : outcome.samples) sample = Nanoseconds(is_default ? 1000 : 9000);
  };
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 20 * bench.listed().size());
  CHECK(bench.results.size() >= 40);
}

TEST_CASE("a configuration that takes three times the best known time runs three times") {
  ListBench bench;
  bench.samples = 2;
  bench.settings.repeats = 10;
  bench.settings.problems = {Shape{1000}};
  std::int64_t run = 0;
  bench.runner.script = [&](const TrialRequest& request, TrialOutcome& outcome) {
    const bool is_default = request.configuration == Configuration({1, 10});
    // One run in three is disturbed, which says nothing.
    for (Nanoseconds& sample : outcome.samples)
      sample = Nanoseconds(is_default ? (++run % 3 == 0 ? 9000 : 1000) : 3001);
  };
  REQUIRE(bench.live().ok());
  REQUIRE(bench.results.size() >= 2);
  CHECK(bench.results[0].samples.size() == 10);
  CHECK(bench.results[1].samples.size() == 3);
}

TEST_CASE("long runs are not warmed up") {
  ListBench bench;
  bench.settings.measure_at_most = std::chrono::milliseconds(50);
  bench.runner.run_time = std::chrono::milliseconds(20);
  REQUIRE(bench.live().ok());
  const auto first = std::find_if(
      bench.runner.requests.begin(), bench.runner.requests.end(),
      [](const TrialRequest& request) { return request.stage == TrialStage::measure; });
  REQUIRE(first != bench.runner.requests.end());
  CHECK_FALSE(first->cold);  // no time is known yet
  CHECK(bench.runner.requests.back().cold);
}

TEST_CASE("a configuration that needs too much room somewhere is left out there alone") {
  ListBench bench;
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.configuration != kVictim || request.shape[0] != 1000) return;
    if (request.stage == TrialStage::compile) return;
    outcome.stage = TrialStage::prepare;
    outcome.status = TrialStatus::runtime;
    outcome.message = "no room";
  };
  REQUIRE(bench.live().ok());
  CHECK(bench.complete);
  CHECK(bench.count(TrialStatus::runtime) == 1);
  CHECK(bench.count(TrialStatus::correct) == 38);
}

TEST_CASE("a device that the reference does not survive any more ends an exploration of a list") {
  ListBench bench;
  bool lost = false;
  bench.runner.script = [&](const TrialRequest& request, TrialOutcome& outcome) {
    lost = lost || (request.configuration == kVictim && request.stage == TrialStage::measure);
    if (!lost) return;
    outcome.stage = TrialStage::prepare;
    outcome.status = TrialStatus::runtime;
    outcome.message = "lost";
  };
  const Status status = bench.live();
  CHECK(status.message() == "nothing can be measured at N=10: runtime: lost");
  for (const ExploredConfiguration& r : bench.results) CHECK(r.configuration != kVictim);
}

TEST_CASE(
    "killed at any moment, an exploration of a list goes on where it was and compiles the victim "
    "again") {
  ListBench undisturbed;
  undisturbed.settings.rounds = 1;
  REQUIRE(undisturbed.live().ok());
  const std::size_t stages = undisturbed.runner.requests.size();
  for (std::size_t nth = 1; nth < stages; nth += 3) {
    ListBench bench;
    bench.settings.rounds = 1;
    bench.runner.script = [&](const TrialRequest&, TrialOutcome&) {
      if (bench.runner.requests.size() == nth + 1) throw Killed();
    };
    CHECK_THROWS_AS((void)bench.live(), Killed);
    bench.runner.script = nullptr;
    REQUIRE(bench.live().ok());
    CHECK(bench.complete);
    CHECK(bench.counts() == undisturbed.counts());
    CHECK(bench.count(TrialStatus::correct) == undisturbed.count(TrialStatus::correct));
  }
}

TEST_CASE("stopped after any problem and begun again, nothing is measured twice") {
  ListBench bench;
  for (std::uint64_t quota = 5; !bench.complete; quota += 5) {
    REQUIRE(quota < 100);
    const auto stop = [&](const Exploration::Progress& progress) { return progress.done >= quota; };
    REQUIRE(bench.live(stop).ok());
  }
  CHECK(bench.counts().size() == 48);
  CHECK(bench.results.size() == 48);
}

TEST_CASE("a configuration that is wrong at one problem is not used at any") {
  ListBench bench;
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.configuration != kVictim || request.stage != TrialStage::check) return;
    outcome.status = TrialStatus::correctness;
    outcome.message = "scripted";
  };
  REQUIRE(bench.live().ok());
  CHECK(bench.count(TrialStatus::correctness) == 4);
  for (const TrialRequest& request : bench.runner.requests) {
    CHECK_FALSE((request.configuration == kVictim && request.stage == TrialStage::measure));
  }
  for (const ExploredConfiguration& r : bench.results) {
    if (r.status == TrialStatus::correctness) CHECK(r.message == "check at N=10: scripted");
  }
}

TEST_CASE("a crash costs the configuration the problems that are left, and quarantines it") {
  ListBench bench;
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    const bool fatal = request.configuration == kVictim && request.shape[0] == 50;
    if (!fatal || request.stage != TrialStage::measure) return;
    outcome.status = TrialStatus::crash;
    outcome.message = "scripted";
  };
  REQUIRE(bench.live().ok());
  CHECK(bench.count(TrialStatus::crash) == 2);  // at 50 and 1000; it ran at 10 and 20
  bench.disk = std::make_shared<idletune::test::Disk>();
  bench.runner.requests.clear();
  REQUIRE(bench.live().ok());
  CHECK(bench.count(TrialStatus::crash) == 4);
  CHECK(bench.runner.compiles().count({2, 20}) == 0);
}

TEST_CASE("a helper that somebody else kills while the best are timed again costs them nothing") {
  ListBench bench;
  bench.settings.rounds = 1;
  bench.settings.finalists = 1;
  bool again = false;
  bench.runner.script = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (!std::exchange(again, false) || request.stage != TrialStage::measure) return;
    outcome.status = TrialStatus::crash;
    outcome.ambiguous = true;
  };
  REQUIRE(bench
              .live([&](const Exploration::Progress& progress) {
                again = progress.again;
                return false;
              })
              .ok());
  CHECK(bench.count(TrialStatus::crash) == 0);
  CHECK(!bench.complete);
  bench.runner.script = nullptr;
  REQUIRE(bench.live().ok());
  CHECK(bench.count(TrialStatus::crash) == 0);
  CHECK(bench.complete);
}

TEST_CASE("a problem that does not fit is left out, and the others are measured") {
  ListBench bench;
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.shape[0] != 1000 || request.stage == TrialStage::compile) return;
    outcome.stage = TrialStage::prepare;
    outcome.status = TrialStatus::runtime;
    outcome.message = "no room";
  };
  REQUIRE(bench.live().ok());
  CHECK(bench.count(TrialStatus::runtime) == 12);
  CHECK(bench.count(TrialStatus::correct) == 27);
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.stage == TrialStage::compile) return;
    outcome.stage = TrialStage::prepare;
    outcome.status = TrialStatus::runtime;
    outcome.message = "no room";
  };
  bench.disk = std::make_shared<idletune::test::Disk>();
  const Status status = bench.live();
  CHECK(status.message() == "nothing can be measured at N=10: runtime: no room");
}

TEST_CASE(
    "stopped before its end, an exploration of a list times the best of what there is again") {
  ListBench bench;
  bench.settings.finalists = 1;
  bench.settings.rounds = 1;
  const auto stop = [&](const Exploration::Progress& progress) {
    return !progress.again && progress.done >= 20;
  };
  REQUIRE(bench.live(stop).ok());
  CHECK(!bench.complete);
  CHECK(bench.counts().size() == 20);
  CHECK(bench.results.size() > 20);
}

TEST_CASE("the best few of each problem are timed again, and those times count") {
  ListBench bench;
  bench.settings.rounds = 2;
  bench.settings.finalists = 1;
  // The best at first is a lucky run.
  bool lucky = true;
  bench.runner.script = [&](const TrialRequest& request, TrialOutcome& outcome) {
    for (Nanoseconds& sample : outcome.samples) {
      const std::int64_t rank = request.configuration[0] * 100 + request.configuration[1];
      sample = Nanoseconds(1000 * rank);
      if (lucky && request.configuration == kVictim) sample = Nanoseconds(1);
    }
  };
  REQUIRE(bench
              .live([&](const Exploration::Progress& progress) {
                lucky = !progress.again;
                return false;
              })
              .ok());
  CHECK(bench.complete);
  CHECK(bench.results.size() == 48 + 2 * 4);
  const std::vector<History> histories = bench.histories();
  REQUIRE(histories.size() == 4);
  for (const History& history : histories) {
    CHECK(history.rows() == 12);
    CHECK(history.best_time_ns() == 110000);
    for (std::size_t row = 0; row < history.rows(); ++row) {
      if (history.configuration(row) == kVictim) CHECK(history.run_time_ns(row) == 220000);
    }
  }
  const auto bytes = write_histories(histories);
  const auto read = required(read_histories(bytes, "list.ithistory"));
  CHECK(write_histories(read) == bytes);
}

TEST_CASE("a result of another configuration than the list has is none of it") {
  ListBench bench;
  bench.samples = 3;
  REQUIRE(bench.live().ok());
  const std::size_t shapes = bench.settings.problems.size();
  // Another list, whose log has the results of this one, as an earlier version may have left it.
  ListBench other;
  other.samples = 3;
  other.settings.seed = 2;
  const std::vector<Configuration> list = other.listed();
  {
    auto log = required(other.log());
    for (const ExploredConfiguration& result : bench.results) REQUIRE(log->append(result).ok());
  }
  const auto kept = static_cast<std::size_t>(std::count_if(
      bench.results.begin(), bench.results.end(), [&](const ExploredConfiguration& result) {
        return list[static_cast<std::size_t>(result.number) / shapes] == result.configuration;
      }));
  REQUIRE(kept < bench.results.size());
  REQUIRE(other.live().ok());
  CHECK(other.complete);
  CHECK(other.results.size() == bench.results.size() - kept + list.size() * shapes);
  std::set<std::vector<std::int64_t>> measured;
  for (const ExploredConfiguration& result : other.results) {
    const auto values = result.configuration.values();
    measured.insert({values.begin(), values.end()});
  }
  for (const History& history : other.histories()) CHECK(history.rows() == measured.size());
}
