#include "agent/host/explore/history_of.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "models/host/insight/fractions.hpp"
#include "tests/unit/explore/scripted_runner.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::explore;
using idletune::explore::test::Bench;

namespace {

History history(Bench& bench) { return bench.histories().at(0); }

const CellColumn& extra(const History& history, const std::string& name) {
  const auto found = std::find_if(history.extras.begin(), history.extras.end(),
                                  [&](const CellColumn& column) { return column.name() == name; });
  REQUIRE(found != history.extras.end());
  return *found;
}

nlohmann::json note(const History& history, const std::string& name) {
  for (const auto& [key, text] : history.notes) {
    if (key == name) return nlohmann::json::parse(text);
  }
  FAIL("no note ", name);
  return {};
}

}  // namespace

TEST_CASE("a whole space becomes a history of all its configurations, which a file keeps") {
  Bench bench;
  std::int64_t run = 0;
  bench.runner.script = [&](const TrialRequest& request, TrialOutcome& outcome) {
    for (Nanoseconds& sample : outcome.samples) sample = Nanoseconds(1000 + 7 * (++run % 5));
    if (request.configuration == Configuration{3, 30} && request.stage == TrialStage::check) {
      outcome.status = TrialStatus::correctness;
      outcome.message = "element 0";
    }
  };
  REQUIRE(bench.live().ok());
  const History made = history(bench);
  CHECK(made.kernel == "twelve");
  CHECK(made.device == "Fake GPU");
  CHECK(made.driver == "Fake Platform; 1.0");
  CHECK(made.shape == Shape{1000});
  CHECK(made.rows() == 12);
  CHECK(made.valid_count == 0);
  CHECK(made.count(TrialStatus::correct) == 11);
  CHECK(made.count(TrialStatus::correctness) == 1);
  CHECK(made.constraints == std::vector<std::string>{"A < 4 or N > 100"});
  CHECK(made.parameter_names() == std::vector<std::string>{"A", "B"});
  const auto offsets = made.sample_offsets();
  for (std::size_t row = 0; row < made.rows(); ++row) {
    CHECK(made.configuration(row) == bench.order().at(row));
    CHECK(made.compile_time_ns(row) == 5e6);
    if (!made.correct(row)) {
      CHECK(extra(made, "time").text(row) == "correctness");
      CHECK(extra(made, "message").text(row) == "check: element 0");
      CHECK(made.sample_count[row] == 0);
      continue;
    }
    std::vector<double> samples(
        made.samples.begin() + static_cast<std::ptrdiff_t>(offsets[row]),
        made.samples.begin() + static_cast<std::ptrdiff_t>(offsets[row + 1]));
    REQUIRE(samples.size() == 10);
    std::sort(samples.begin(), samples.end());
    CHECK(made.run_time_ns(row) == (samples[4] + samples[5]) / 2);
    CHECK(extra(made, "verification_time").integer(row) == 10000000);
    CHECK(extra(made, "benchmark_time").integer(row) == 10000000);
  }
  const auto read = required(read_history(write_history(made), "test"));
  CHECK(read == made);
}

TEST_CASE("what a setup takes has a column of its own") {
  Bench bench;
  bench.runner.script = [](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.configuration[0] == 3) outcome.setup = Nanoseconds(4321);
  };
  REQUIRE(bench.live().ok());
  const History made = history(bench);
  std::size_t with_setup = 0;
  for (std::size_t row = 0; row < made.rows(); ++row) {
    if (bench.order().at(row)[0] != 3) continue;
    CHECK(extra(made, "setup_time").integer(row) == 4321);
    ++with_setup;
  }
  CHECK(with_setup >= 1);
}

TEST_CASE("a part of a space is a sample of it") {
  Bench bench;
  bench.samples = 5;
  REQUIRE(bench.live().ok());
  CHECK(history(bench).rows() == 5);
  CHECK(history(bench).valid_count == 12);
  CHECK(note(history(bench), "explore")["order"] == "a uniform sample");

  Bench stopped;
  REQUIRE(stopped.live([](const auto& progress) { return progress.done == 5; }).ok());
  CHECK(history(stopped).rows() == 5);
  CHECK(history(stopped).valid_count == 12);
}

TEST_CASE("configurations that were picked are no sample") {
  Bench bench;
  bench.samples = 5;
  bench.settings.chosen = "part A=3";
  REQUIRE(bench.live().ok());
  CHECK(history(bench).rows() == 5);
  CHECK(distribution_of(history(bench)).measured == 0);
}

TEST_CASE("a part of a space that has no numbers is a sample of it all the same") {
  Bench bench;
  bench.package = explore::test::unnumbered();
  bench.samples = 5;
  REQUIRE(bench.live().ok());
  const History made = history(bench);
  CHECK(made.valid_count == 64000 + 2 * 40);
  CHECK(made.warnings.empty());
  const PerformanceDistribution distribution = distribution_of(made);
  CHECK(distribution.is_sample());
  CHECK(distribution.better_share_bound() > 0.4);
}

TEST_CASE("configurations that do not exist at a shape are said") {
  Bench bench;
  bench.settings.problems = {Shape{50}};
  bench.samples = 11;
  REQUIRE(bench.live().ok());
  const History made = history(bench);
  CHECK(made.count(TrialStatus::constraints) >= 2);
  REQUIRE(made.warnings.size() == 1);
  CHECK(made.warnings[0].find("do not exist at this shape") != std::string::npos);
}

TEST_CASE("the notes say what was explored and how steady the default was") {
  Bench bench;
  bench.settings.control_interval = std::chrono::hours(1);
  bench.settings.seed = 42;
  bench.samples = 4;
  const auto two = [](const auto& progress) { return progress.done == 2; };
  bench.runner.run_time = std::chrono::microseconds(100);
  REQUIRE(bench.live(two).ok());
  bench.runner.run_time = std::chrono::microseconds(110);
  REQUIRE(bench.live().ok());
  const History made = history(bench);
  const nlohmann::json explored = note(made, "explore");
  CHECK(explored["seed"] == 42);
  CHECK(explored["planned"] == 4);
  CHECK(explored["dimensions"] == nlohmann::json({"N"}));
  CHECK(explored["device"] == "Fake GPU");
  const nlohmann::json fallback = note(made, "default");
  CHECK(fallback["configuration"] == nlohmann::json({{"A", 1}, {"B", 10}}));
  CHECK(fallback["run_time"] == 105000);
  CHECK(fallback["control"].size() == 2);
  CHECK(fallback["control"][1]["after"] == 2);
  CHECK(fallback["spread"].get<double>() == doctest::Approx(10.0 / 105.0));
}

TEST_CASE("what earlier versions explored becomes the same history, byte for byte") {
  const auto golden = [](const std::string& name) {
    const std::string path = idletune::test::test_data("explorations_v1/" + name);
    return idletune::test::read_bytes(path);
  };
  Bench bench;
  std::string name;
  SUBCASE("one problem") {
    name = "one";
    bench.settings.problems = {Shape{50}};
  }
  SUBCASE("a list") {
    name = "list";
    bench.settings = Settings::of_list({Shape{1000}, Shape{10}, Shape{50}, Shape{20}});
    bench.settings.finalists = 2;
  }
  bench.disk = std::make_shared<idletune::test::Disk>(
      idletune::test::Files{{kLogName, golden(name + ".results")}});
  CHECK(write_histories(bench.histories()) == golden(name + ".ithistory"));
  REQUIRE(bench.live().ok());
  CHECK(bench.complete);
  CHECK(bench.results.size() > bench.runner.compiles().size());
  const nlohmann::json said = note(history(bench), name == "one" ? "explore" : "sweep")["run_time"];
  CHECK(said.get<std::string>().find(name == "one" ? "median" : "smallest") == 0);
}

TEST_CASE("nothing measured is no history") {
  Bench bench;
  REQUIRE(bench.live([](const auto&) { return true; }).ok());
  auto log = required(bench.log());
  CHECK(histories_of(*bench.package, bench.device, bench.order(), bench.settings, *log).code() ==
        StatusCode::invalid_argument);
}

TEST_CASE("medians are the middle, or the mean of the middle two") {
  const auto ns = [](std::vector<int> values) {
    std::vector<Nanoseconds> times;
    for (const int value : values) times.emplace_back(value);
    return times;
  };
  CHECK(median_ns(ns({})) == 0);
  CHECK(median_ns(ns({5, 1, 9})) == 5);
  CHECK(median_ns(ns({8, 1, 3, 4})) == 3.5);
  CHECK(fastest(ns({5, 1, 9})).count() == 1);
  CHECK(fastest({}).count() == 0);
}
