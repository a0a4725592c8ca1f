#include <algorithm>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/host/history/import.hpp"
#include "models/host/insight/fractions.hpp"
#include "models/host/insight/steps.hpp"
#include "models/host/learn/sample_quantiles.hpp"
#include "tests/unit/history/recorded_data.hpp"

using namespace idletune;

namespace {

History timed_history(const std::vector<double>& times_ms,
                      const std::vector<std::int64_t>& values) {
  History history;
  history.kernel = "k";
  history.device = "d";
  history.nanoseconds_per_unit = 1e6;
  history.parameters.emplace_back("p");
  for (std::size_t i = 0; i < times_ms.size(); ++i) {
    history.parameters[0].push_integer(values[i]);
    const bool correct = times_ms[i] > 0;
    history.status.push_back(correct               ? TrialStatus::correct
                             : times_ms[i] == -1.0 ? TrialStatus::constraints
                                                   : TrialStatus::runtime);
    history.run_time.push_back(times_ms[i]);
    history.compile_time.push_back(10.0 * static_cast<double>(i));
    history.sample_count.push_back(0);
  }
  return history;
}

}  // namespace

TEST_CASE("failures count as zero and constraint violations do not count") {
  const History h = timed_history({1.0, 1.1, 2.0, 0.0, -1.0}, {1, 2, 3, 4, 5});
  const PerformanceDistribution d = distribution_of(h);
  CHECK(d.valid == 4);
  CHECK(d.measured == 4);
  CHECK(d.fraction(0.9) == 0.5);
  CHECK(d.fraction(0.5) == 0.75);
  CHECK(d.sorted.front() == 0);
  CHECK(d.best_ns == 1e6);
  CHECK(d.median_run_ns == 1.1e6);
  CHECK(d.median_compile_ns == 15e6);
  CHECK(d.interval(0.9)[0] == 0.5);
  CHECK(d.interval(0.9)[1] == 0.5);
}

TEST_CASE("a history in which nothing ran has no good configuration") {
  const PerformanceDistribution d = distribution_of(timed_history({0.0, 0.0}, {1, 2}));
  CHECK(d.valid == 2);
  CHECK(d.fraction(0.9) == 0);
  CHECK_FALSE(random_search_steps(d.fraction(0.9), 0.95).has_value());
}

TEST_CASE("a sample has an interval around its fraction") {
  History h = timed_history({1.0, 1.05, 2.0, 4.0}, {1, 2, 3, 4});
  h.valid_count = 1000;
  const PerformanceDistribution d = distribution_of(h);
  CHECK(d.is_sample());
  CHECK(d.space == 1000);
  // Wilson's interval of 2 out of 4.
  CHECK(d.interval(0.9)[0] == doctest::Approx(0.15003899));
  CHECK(d.interval(0.9)[1] == doctest::Approx(0.84996101));
  h.extras.emplace_back(kProposalColumn);
  for (int i = 0; i < 4; ++i) h.extras[0].push_text("portfolio");
  CHECK(distribution_of(h).interval(0.9) == std::array<double, 2>{0, 1});
}

TEST_CASE("dropped failures are found by comparing devices") {
  const History whole =
      timed_history({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const History part = timed_history({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const History sample = timed_history({1, 2}, {1, 2});
  const auto dropped = dropped_failures({&whole, &part, &sample});
  CHECK(dropped[0].size() == 0);
  CHECK(dropped[1].size() == 1);
  CHECK(dropped[2].size() == 0);
  CHECK(distribution_of(part, 1).valid == 10);
  CHECK(distribution_of(part, 1).sorted.front() == 0);
}

TEST_CASE("what a sample has not drawn yet, or a device could not run, is no dropped failure") {
  std::vector<double> times{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<std::int64_t> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const History whole = timed_history(times, values);
  times[9] = -1.0;
  const History limited = timed_history(times, values);
  times.pop_back();
  History sample = timed_history(times, values);
  sample.valid_count = 10;
  for (const auto& dropped : dropped_failures({&whole, &limited, &sample})) CHECK(dropped.empty());
}

TEST_CASE("fractions, steps and quantiles of recorded caches equal an independent computation" *
          doctest::test_suite("recorded data")) {
  const auto paths = test::recorded_caches("kernel_tuner");
  if (paths.empty()) {
    return test::skip(test::kNoRecordedData);
  }
  // By tests/data/kernel_tuner/reference_fractions.py (NumPy).
  std::ifstream file(test::test_data("kernel_tuner/fractions.json"));
  const nlohmann::json expected = nlohmann::json::parse(file);
  REQUIRE(expected.size() == paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    CAPTURE(paths[i]);
    const auto imported = import_histories(test::read_bytes(paths[i]), paths[i]);
    REQUIRE(imported.ok());
    const PerformanceDistribution d = distribution_of(imported->front());
    const nlohmann::json& reference = expected[i];
    REQUIRE(paths[i].find(reference["file"].get<std::string>()) != std::string::npos);
    CHECK(d.valid == reference["valid"]);
    for (const nlohmann::json& f : reference["fractions"]) {
      const double r = f["threshold"];
      CHECK(d.fraction(r) == f["fraction"].get<double>());
      const auto steps = random_search_steps(d.fraction(r), 0.95);
      const auto without =
          random_search_steps_without_repetition(d.valid, d.count_at_least(r), 0.95);
      REQUIRE(steps.has_value() == !f["steps"].is_null());
      if (steps) CHECK(*steps == f["steps"].get<std::uint64_t>());
      REQUIRE(without.has_value() == !f["without_repetition"].is_null());
      if (without) CHECK(*without == f["without_repetition"].get<std::uint64_t>());
    }
    const auto quantiles = quantiles_of(d.sorted);
    const auto levels = quantile_levels();
    for (const auto& [level, value] : reference["quantiles"].items()) {
      const auto at = std::find(levels.begin(), levels.end(), std::stod(level));
      REQUIRE(at != levels.end());
      const float quantile = quantiles[static_cast<std::size_t>(at - levels.begin())];
      CHECK(quantile == doctest::Approx(value.get<double>()).epsilon(1e-6));
    }
  }
}
