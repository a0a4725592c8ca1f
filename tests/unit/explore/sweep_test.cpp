#include "agent/explore/sweep.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "agent/explore/history_of.hpp"
#include "tests/unit/explore/scripted_runner.hpp"

using namespace idletune;
using namespace idletune::explore;
using idletune::explore::test::ScriptedRunner;

namespace {

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

// Twelve configurations at four problems, at three of which those with A = 4 do not exist.
struct Bench {
  std::shared_ptr<idletune::test::Disk> disk = std::make_shared<idletune::test::Disk>();
  std::shared_ptr<idletune::test::Disk> state = std::make_shared<idletune::test::Disk>();
  std::shared_ptr<const KernelPackage> package = explore::test::twelve();
  DeviceInfo device = explore::test::test_device();
  SweepSettings settings;
  std::optional<std::uint64_t> samples;
  ScriptedRunner runner;
  std::vector<ExploredConfiguration> results;
  bool complete = false;

  Bench() {
    settings.shapes = {Shape{1000}, Shape{10}, Shape{50}, Shape{20}};
    settings.rounds = 0;
  }

  std::vector<Configuration> configurations() const {
    auto chosen = configurations_to_sweep(*package, settings.seed, samples);
    REQUIRE_MESSAGE(chosen.ok(), chosen.status().to_string());
    return *chosen;
  }

  // One life of the process; it ends, whatever happens, as if killed: nothing is shut down.
  Status live(const std::function<bool(const Sweep::Progress&)>& stop = {}) {
    disk->locked = state->locked = false;
    auto log = Log::open(idletune::test::open_faulty_storage(disk),
                         sweep_identity(*package, device, settings));
    if (!log.ok()) return log.status();
    journal::JournalOptions options;
    options.boot = 77;
    auto journal = journal::Journal::open(idletune::test::open_faulty_storage(state), options);
    const std::vector<Configuration> chosen = configurations();
    Sweep sweep(package, device, chosen, settings, runner, *journal, **log);
    const Status status = sweep.run(stop ? stop : [](const Sweep::Progress&) { return false; });
    results = (*log)->results();
    complete = sweep.complete();
    return status;
  }

  // How many results each number has.
  std::map<std::uint64_t, int> counts() const {
    std::map<std::uint64_t, int> result;
    for (const ExploredConfiguration& r : results) ++result[r.number];
    return result;
  }
  std::size_t count(TrialStatus status) const {
    return static_cast<std::size_t>(
        std::count_if(results.begin(), results.end(),
                      [status](const ExploredConfiguration& r) { return r.status == status; }));
  }
  std::size_t requested(TrialStage stage) const {
    return static_cast<std::size_t>(
        std::count_if(runner.requests.begin(), runner.requests.end(),
                      [stage](const TrialRequest& r) { return r.stage == stage; }));
  }
};

const Configuration kVictim = {2, 20};

}  // namespace

TEST_CASE("a sweep compiles every configuration once and measures it at every problem") {
  Bench bench;
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
  Bench bench;
  bench.settings.shapes.clear();
  for (std::int64_t n = 1; n <= 64; ++n) bench.settings.shapes.push_back(Shape{200 * n});
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
  Bench bench;
  bench.samples = 2;
  bench.settings.shapes.clear();
  for (std::int64_t n = 200; n < 400; ++n) bench.settings.shapes.push_back(Shape{n});
  bench.settings.shapes.push_back(Shape{400000});
  // As fast as the default far away.
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    const bool is_default = request.configuration == Configuration({1, 10});
    const bool slow = !is_default && request.shape[0] < 400000;
    for (Nanoseconds& sample : outcome.samples) sample = Nanoseconds(slow ? 9000 : 1000);
  };
  SUBCASE("in one life") { REQUIRE(bench.live().ok()); }
  SUBCASE("in two") {
    REQUIRE(bench.live([](const Sweep::Progress& far) { return far.done > 250; }).ok());
    REQUIRE(bench.live().ok());
    for (const auto& [values, count] : bench.runner.compiles()) CHECK(count <= 2);
  }
  CHECK(bench.complete);
  // The default everywhere, the others at four problems and far away.
  const std::size_t others = bench.configurations().size() - 1;
  REQUIRE(others >= 1);
  CHECK(bench.results.size() == 201 + 5 * others);
  // All is done: nothing is compiled to find that out.
  bench.runner.requests.clear();
  REQUIRE(bench.live().ok());
  CHECK(bench.complete);
  CHECK(bench.runner.requests.empty());
}

TEST_CASE("a configuration that is far too slow is run everywhere if asked for") {
  Bench bench;
  bench.samples = 2;
  bench.settings.far_too_slow = 0;
  bench.settings.shapes.clear();
  for (std::int64_t n = 200; n < 220; ++n) bench.settings.shapes.push_back(Shape{n});
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    const bool is_default = request.configuration == Configuration({1, 10});
    for (Nanoseconds& sample : outcome.samples) sample = Nanoseconds(is_default ? 1000 : 9000);
  };
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 20 * bench.configurations().size());
  CHECK(bench.results.size() >= 40);
}

TEST_CASE("a configuration that takes three times the best known time of a problem runs once") {
  Bench bench;
  bench.samples = 2;
  bench.settings.shapes = {Shape{1000}};
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    const bool is_default = request.configuration == Configuration({1, 10});
    for (Nanoseconds& sample : outcome.samples) sample = Nanoseconds(is_default ? 1000 : 3001);
  };
  REQUIRE(bench.live().ok());
  REQUIRE(bench.results.size() >= 2);
  CHECK(bench.results[0].samples.size() == 3);
  CHECK(bench.results[1].samples.size() == 1);
}

TEST_CASE("runs end when they have taken the time there is, and long ones are not warmed up") {
  Bench bench;
  bench.settings.measure_at_most = std::chrono::milliseconds(50);
  bench.settings.repeats = 10;
  bench.runner.run_time = std::chrono::milliseconds(20);
  REQUIRE(bench.live().ok());
  for (const ExploredConfiguration& r : bench.results) {
    if (r.status == TrialStatus::correct) CHECK(r.samples.size() == 2);
  }
  CHECK_FALSE(bench.runner.requests[6].cold);  // no time is known yet: the default at its first
  CHECK(bench.runner.requests.back().cold);
}

TEST_CASE("killed at any moment, a sweep goes on where it was and compiles the victim again") {
  Bench undisturbed;
  undisturbed.settings.rounds = 1;
  REQUIRE(undisturbed.live().ok());
  const std::size_t stages = undisturbed.runner.requests.size();
  for (std::size_t nth = 1; nth < stages; nth += 3) {
    Bench bench;
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
  Bench bench;
  for (std::uint64_t quota = 5; !bench.complete; quota += 5) {
    REQUIRE(quota < 100);
    const auto stop = [&](const Sweep::Progress& progress) { return progress.done >= quota; };
    REQUIRE(bench.live(stop).ok());
  }
  CHECK(bench.counts().size() == 48);
  CHECK(bench.results.size() == 48);
}

TEST_CASE("a configuration that is wrong at one problem is not used at any") {
  Bench bench;
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
  Bench bench;
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

TEST_CASE("a problem that does not fit is left out, and the others are measured") {
  Bench bench;
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
  CHECK(status.message() == "no output can be checked at any problem: no room");
}

TEST_CASE("stopped before its end, a sweep times the best of what there is again") {
  Bench bench;
  bench.settings.finalists = 1;
  bench.settings.rounds = 1;
  const auto stop = [&](const Sweep::Progress& progress) {
    return !progress.again && progress.done >= 20;
  };
  REQUIRE(bench.live(stop).ok());
  CHECK(!bench.complete);
  CHECK(bench.counts().size() == 20);
  CHECK(bench.results.size() > 20);
}

TEST_CASE("the best few of each problem are timed again, and those times count") {
  Bench bench;
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
              .live([&](const Sweep::Progress& progress) {
                lucky = !progress.again;
                return false;
              })
              .ok());
  CHECK(bench.complete);
  CHECK(bench.results.size() == 48 + 2 * 4);
  bench.disk->locked = false;
  auto log = Log::open(idletune::test::open_faulty_storage(bench.disk),
                       sweep_identity(*bench.package, bench.device, bench.settings));
  REQUIRE(log.ok());
  const auto histories = histories_of(*bench.package, bench.device, bench.settings, **log);
  REQUIRE(histories.ok());
  REQUIRE(histories->size() == 4);
  for (const History& history : *histories) {
    CHECK(history.rows() == 12);
    CHECK(history.best_time_ns() == 110000);
    for (std::size_t row = 0; row < history.rows(); ++row) {
      if (history.configuration(row) == kVictim) CHECK(history.run_time_ns(row) == 220000);
    }
  }
  const auto bytes = write_histories(*histories);
  const auto read = read_histories(bytes, "sweep.ithistory");
  REQUIRE(read.ok());
  CHECK(*read == *histories);
}

TEST_CASE("a longer list of configurations begins with the shorter one") {
  const auto package = explore::test::twelve();
  const auto few = configurations_to_sweep(*package, 1, 3);
  const auto more = configurations_to_sweep(*package, 1, 7);
  const auto all = configurations_to_sweep(*package, 1, {});
  REQUIRE(few.ok());
  REQUIRE(more.ok());
  REQUIRE(all.ok());
  CHECK(few->front() == package->default_configuration());
  CHECK(std::equal(few->begin(), few->end(), more->begin()));
  CHECK(std::equal(more->begin(), more->end(), all->begin()));
  CHECK(all->size() == 12);
  const auto other = configurations_to_sweep(*package, 2, 7);
  REQUIRE(other.ok());
  CHECK(*other != *more);
}

TEST_CASE("a longer list begins with the shorter one where the space has no numbers, too") {
  const auto package = explore::test::unnumbered();
  std::size_t found = 0;  // lists in which more draws found more of the rare member
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::vector<Configuration> shorter;
    for (const std::uint64_t samples : {1, 2, 3, 6}) {
      CAPTURE(samples);
      const auto list = configurations_to_sweep(*package, seed, samples);
      REQUIRE(list.ok());
      REQUIRE(list->size() > shorter.size());
      CHECK(std::equal(shorter.begin(), shorter.end(), list->begin()));
      found += list->back()[0] == 1 ? 1 : 0;
      shorter = *list;
    }
  }
  CHECK(found > 0);
}

TEST_CASE("a result of another configuration than the list has is none of it") {
  Bench bench;
  bench.samples = 3;
  REQUIRE(bench.live().ok());
  const std::size_t shapes = bench.settings.shapes.size();
  // Another list, whose log has the results of this one, as an earlier version may have left it.
  Bench other;
  other.samples = 3;
  other.settings.seed = 2;
  const std::vector<Configuration> list = other.configurations();
  {
    auto log = Log::open(idletune::test::open_faulty_storage(other.disk),
                         sweep_identity(*other.package, other.device, other.settings));
    REQUIRE(log.ok());
    for (const ExploredConfiguration& result : bench.results) REQUIRE((*log)->append(result).ok());
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
  other.disk->locked = false;
  auto log = Log::open(idletune::test::open_faulty_storage(other.disk),
                       sweep_identity(*other.package, other.device, other.settings));
  REQUIRE(log.ok());
  const auto histories = histories_of(*other.package, other.device, other.settings, **log);
  REQUIRE(histories.ok());
  for (const History& history : *histories) CHECK(history.rows() == measured.size());
}

TEST_CASE("a part of the space has draws of its own") {
  const auto package = explore::test::twelve();
  const std::size_t parameter = *package->space().parameter_index("A");
  const std::int64_t rare = 4;
  const auto of_part = [&](const std::vector<Configuration>& list) {
    return std::count_if(list.begin(), list.end(), [&](const Configuration& configuration) {
      return configuration[parameter] == rare;
    });
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto whole = configurations_to_sweep(*package, seed, 2);
    const auto both = configurations_to_sweep(*package, seed, 2, {{{parameter, rare}}});
    REQUIRE(whole.ok());
    REQUIRE(both.ok());
    CHECK(of_part(*both) >= 2);
    CHECK(both->size() >= whole->size());
    for (const Configuration& configuration : *whole) {
      CHECK(std::count(both->begin(), both->end(), configuration) == 1);
    }
  }
  const std::int64_t nowhere = rare + 1;
  const auto none = configurations_to_sweep(*package, 1, 2, {{{parameter, nowhere}}});
  REQUIRE(none.ok());
  CHECK(*none == *configurations_to_sweep(*package, 1, 2));
}
