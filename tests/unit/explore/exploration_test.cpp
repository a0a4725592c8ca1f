#include "agent/host/explore/exploration.hpp"

#include <doctest/doctest.h>

#include "tests/unit/explore/scripted_runner.hpp"

using namespace idletune;
using namespace idletune::explore;
using idletune::explore::test::Bench;
using idletune::explore::test::Killed;
using idletune::explore::test::kVictim;

namespace {

// The process dies as the `nth` stage (from 0) begins.
void die_at(Bench& bench, std::size_t nth) {
  bench.runner.script = [&bench, nth](const TrialRequest&, TrialOutcome&) {
    if (bench.runner.requests.size() == nth + 1) throw Killed();
  };
}

const ExploredConfiguration& result_of(const Bench& bench, const Configuration& configuration) {
  for (const ExploredConfiguration& r : bench.results) {
    if (r.configuration == configuration) return r;
  }
  FAIL("not explored");
  return bench.results.front();
}

void fail_victim(Bench& bench, TrialStage stage, TrialStatus status, bool ambiguous = false) {
  bench.runner.script = [=](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.configuration != kVictim || request.stage != stage) return;
    outcome.status = status;
    outcome.message = "scripted";
    outcome.ambiguous = ambiguous;
  };
}

int compiles_of_victim(const Bench& bench) {
  const auto counts = bench.runner.compiles();
  const auto found = counts.find({2, 20});
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

TEST_CASE("an exploration measures every configuration once, checked and timed as asked") {
  Bench bench;
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 12);
  CHECK(bench.counts().size() == 12);
  for (const auto& [values, count] : bench.runner.compiles()) CHECK(count == 1);
  for (const ExploredConfiguration& r : bench.results) {
    CHECK(r.status == TrialStatus::correct);
    CHECK(r.configuration == bench.order().at(r.number));
    CHECK(r.samples == std::vector<Nanoseconds>(10, bench.runner.run_time));
    CHECK(r.compile == std::chrono::milliseconds(5));
    CHECK(r.check == std::chrono::milliseconds(10));    // two sets of inputs
    CHECK(r.measure == std::chrono::milliseconds(10));  // three runs, then the other seven
  }
}

TEST_CASE("stopped after any configuration and begun again, nothing is measured twice") {
  for (std::uint64_t lives = 1; lives <= 12; ++lives) {
    Bench bench;
    std::uint64_t quota = lives;
    const auto stop = [&](const Exploration::Progress& progress) { return progress.done >= quota; };
    for (; quota < 12; quota += lives) {
      REQUIRE(bench.live(stop).ok());
      CHECK(bench.results.size() == quota);
    }
    REQUIRE(bench.live().ok());
    CHECK(bench.counts().size() == 12);
    CHECK(bench.results.size() == 12);
    for (const auto& [values, count] : bench.runner.compiles()) CHECK(count == 1);
  }
}

TEST_CASE(
    "killed at any moment, only the configuration that was being tried is tried again, last if it "
    "ran") {
  Bench undisturbed;
  REQUIRE(undisturbed.live().ok());
  const std::size_t stages = undisturbed.runner.requests.size();
  CHECK(stages == 2 + 12 * 5);
  for (std::size_t nth = 2; nth < stages; ++nth) {
    Bench bench;
    die_at(bench, nth);
    CHECK_THROWS_AS((void)bench.live(), Killed);
    const Configuration victim = bench.runner.requests.back().configuration;
    const bool ran = bench.runner.requests.back().stage != TrialStage::compile;
    const bool was_last = (nth - 2) / 5 == 11;
    bench.runner.script = nullptr;
    REQUIRE(bench.live().ok());
    CHECK(bench.results.size() == 12);
    CHECK(bench.counts().size() == 12);
    for (const auto& [values, count] : bench.runner.compiles()) {
      const bool is_victim = Configuration(Span<const std::int64_t>(values)) == victim;
      CHECK(count == (is_victim ? 2 : 1));
    }
    if (!was_last) CHECK((bench.results.back().configuration == victim) == ran);
    CHECK(result_of(bench, victim).status == TrialStatus::correct);
  }
}

TEST_CASE("a configuration during which the process dies twice is not tried a third time") {
  Bench bench;
  for (int life = 0; life < 2; ++life) {
    bench.runner.script = [](const TrialRequest& request, TrialOutcome&) {
      if (request.configuration == kVictim && request.stage == TrialStage::check) throw Killed();
    };
    CHECK_THROWS_AS((void)bench.live(), Killed);
  }
  CHECK(compiles_of_victim(bench) == 2);
  REQUIRE(bench.live().ok());
  CHECK(compiles_of_victim(bench) == 2);
  CHECK(bench.results.size() == 12);
  const ExploredConfiguration& victim = result_of(bench, kVictim);
  CHECK(victim.status == TrialStatus::crash);
  CHECK(victim.message.find("repeated_death") != std::string::npos);
}

TEST_CASE("a crash costs one configuration, and its quarantine holds at another shape") {
  Bench bench;
  fail_victim(bench, TrialStage::check, TrialStatus::crash);
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 12);
  CHECK(result_of(bench, kVictim).status == TrialStatus::crash);
  CHECK(result_of(bench, kVictim).message == "check: scripted");
  CHECK(result_of(bench, kVictim).samples.empty());

  Bench other;
  other.state = bench.state;
  other.settings.problems = {Shape{2000}};
  REQUIRE(other.live().ok());
  CHECK(compiles_of_victim(other) == 0);
  CHECK(result_of(other, kVictim).status == TrialStatus::crash);
  CHECK(result_of(other, kVictim).message.find("quarantined earlier (crash)") == 0);
}

TEST_CASE("a hang is a timeout, and quarantined as one") {
  Bench bench;
  fail_victim(bench, TrialStage::measure, TrialStatus::timeout);
  REQUIRE(bench.live().ok());
  CHECK(result_of(bench, kVictim).status == TrialStatus::timeout);
  Bench other;
  other.state = bench.state;
  other.settings.problems = {Shape{2000}};
  REQUIRE(other.live().ok());
  CHECK(compiles_of_victim(other) == 0);
  CHECK(result_of(other, kVictim).status == TrialStatus::timeout);
}

TEST_CASE("an ambiguous crash is tried once more, after everything else") {
  Bench bench;
  fail_victim(bench, TrialStage::check, TrialStatus::crash, /*ambiguous=*/true);
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 12);
  CHECK(compiles_of_victim(bench) == 2);
  CHECK(bench.results.back().configuration == kVictim);
  CHECK(bench.results.back().status == TrialStatus::crash);
}

TEST_CASE(
    "failures are told apart: a limit of the device counts, a constraint of the shape does not") {
  Bench bench;
  fail_victim(bench, TrialStage::compile, TrialStatus::constraints);
  bench.settings.problems = {Shape{50}};  // A = 4 needs more than 100
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 12);
  CHECK(result_of(bench, kVictim).status == TrialStatus::runtime);
  CHECK(result_of(bench, {4, 10}).status == TrialStatus::constraints);
  for (const auto& [values, count] : bench.runner.compiles()) CHECK(values[0] != 4);

  Bench compile;
  fail_victim(compile, TrialStage::compile, TrialStatus::compile);
  REQUIRE(compile.live().ok());
  CHECK(result_of(compile, kVictim).status == TrialStatus::compile);
  CHECK(result_of(compile, kVictim).compile == std::chrono::milliseconds(5));

  Bench wrong;
  fail_victim(wrong, TrialStage::check, TrialStatus::correctness);
  REQUIRE(wrong.live().ok());
  CHECK(result_of(wrong, kVictim).status == TrialStatus::correctness);
  for (const TrialRequest& request : wrong.runner.requests) {
    const bool timed_wrong =
        request.configuration == kVictim && request.stage == TrialStage::measure;
    CHECK_FALSE(timed_wrong);
  }
}

TEST_CASE("a broken reference ends the exploration, and no configuration is blamed") {
  Bench bench;
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.stage != TrialStage::prepare) return;
    outcome.status = TrialStatus::correctness;
    outcome.message = "the reference changed no output";
  };
  const Status status = bench.live();
  CHECK(status.code() == StatusCode::device_error);
  CHECK(status.message().find("the reference changed no output") != std::string::npos);
  CHECK(bench.results.empty());
  // Nor are they found not to exist, one by one, where the problem itself is impossible.
  bench.settings.problems = {Shape{8, 8}};
  CHECK(bench.live().code() == StatusCode::invalid_argument);
  bench.disk = std::make_shared<idletune::test::Disk>();
  CHECK(bench.live().code() == StatusCode::device_error);
  CHECK(bench.results.empty());
}

TEST_CASE("slow configurations are timed fewer times") {
  Bench bench;
  bench.samples = 1;
  const auto samples_at = [&](int ms) {
    bench = Bench();
    bench.samples = 1;
    bench.runner.run_time = std::chrono::milliseconds(ms);
    REQUIRE(bench.live().ok());
    REQUIRE(bench.results.size() == 1);
    return bench.results[0].samples.size();
  };
  CHECK(samples_at(1) == 10);
  CHECK(samples_at(20) == 5);   // 100 ms together
  CHECK(samples_at(40) == 3);   // at least three
  CHECK(samples_at(200) == 1);  // but one that takes all the time by itself
}

TEST_CASE("a larger sample goes on where the smaller one ended") {
  Bench bench;
  bench.samples = 4;
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 4);
  bench.samples.reset();
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 12);
  for (const auto& [values, count] : bench.runner.compiles()) CHECK(count == 1);
}

TEST_CASE("a smaller sample than was begun measures what it lacks and no more") {
  Bench bench;
  REQUIRE(bench.live([](const auto& progress) { return progress.done == 6; }).ok());
  bench.samples = 4;
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 6);
  bench.samples = 8;
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 8);
}

TEST_CASE("the default is timed at the beginning, and kept apart from the results") {
  Bench bench;
  bench.settings.control_interval = std::chrono::hours(1);
  bench.samples = 3;
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 3);
  REQUIRE(bench.controls.size() == 1);
  CHECK(bench.controls[0].after == 0);
  CHECK(bench.controls[0].samples.size() == 10);
}

TEST_CASE("a default that was being timed when the process died is not suspected of it") {
  Bench bench;
  bench.settings.control_interval = std::chrono::hours(1);
  for (int life = 0; life < 3; ++life) {
    bench.runner.script = [&](const TrialRequest& request, TrialOutcome&) {
      if (request.stage == TrialStage::measure) throw Killed();  // the control comes first
    };
    CHECK_THROWS_AS((void)bench.live(), Killed);
  }
  bench.runner.script = nullptr;
  REQUIRE(bench.live().ok());
  CHECK(bench.results.size() == 12);
  for (const ExploredConfiguration& r : bench.results) CHECK(r.status == TrialStatus::correct);
}

TEST_CASE("the default's compile time is not known where the control has compiled it before") {
  Bench bench;
  bench.settings.control_interval = std::chrono::hours(1);
  REQUIRE(bench.live().ok());
  for (const ExploredConfiguration& r : bench.results) {
    const bool is_default = r.configuration == bench.package->default_configuration();
    CHECK(r.compile == std::chrono::milliseconds(is_default ? 0 : 5));
  }
}

TEST_CASE("a default that fails is timed no more") {
  Bench bench;
  bench.settings.control_interval = Nanoseconds{1};
  const Configuration fallback = bench.package->default_configuration();
  bench.runner.script = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.configuration != fallback || request.stage != TrialStage::check) return;
    outcome.status = TrialStatus::correctness;
  };
  REQUIRE(bench.live().ok());
  CHECK(bench.controls.empty());
  CHECK(bench.results.size() == 12);
  CHECK(bench.runner.compiles()[{1, 10}] == 2);
  CHECK(result_of(bench, fallback).status == TrialStatus::correctness);
}

TEST_CASE("a full disk ends the exploration with an error") {
  Bench bench;
  std::uint64_t done = 0;
  const Status status = bench.live([&](const Exploration::Progress& progress) {
    done = progress.done;
    if (progress.done == 3) {
      bench.disk->fault.first = bench.disk->changes;
      bench.disk->fault.code = StatusCode::no_space;
    }
    return false;
  });
  CHECK(status.code() == StatusCode::no_space);
  CHECK(done == 3);
}

TEST_CASE("nothing runs that the journal has no room to announce") {
  Bench bench;
  bench.settings = Settings::of_list({Shape{1000}});
  bench.package = explore::test::unnumbered();
  bench.samples = 80;
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.stage != TrialStage::check) return;
    outcome.status = TrialStatus::crash;
    outcome.ambiguous = true;
  };
  CHECK(bench.live().code() == StatusCode::busy);
  CHECK(bench.runner.compiles().size() == 64);
}
