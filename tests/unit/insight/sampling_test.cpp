// What is said of samples, verified by drawing them from spaces that are known completely.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "models/core/random.hpp"
#include "models/host/history/import.hpp"
#include "models/host/insight/fractions.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/insight/small_history.hpp"

using namespace idletune;

namespace {

constexpr std::size_t kSpace = 4000;
constexpr std::size_t kSample = 300;
constexpr int kDraws = 2000;

// Run times whose logarithm is about normal, by a seeded generator.
std::vector<double> times_of_space() {
  Random random(11);
  std::vector<double> times;
  for (std::size_t i = 0; i < kSpace; ++i) {
    double sum = 0;
    for (int j = 0; j < 12; ++j) sum += random.uniform();
    times.push_back(std::exp(0.4 * (sum - 6)));
  }
  return times;
}

History sample_of(const std::vector<double>& times, std::uint64_t seed) {
  const Permutation order(times.size(), seed);
  std::size_t next = 0;
  std::vector<std::int64_t> numbers(kSample);
  for (std::size_t i = 0; i < kSample; ++i) numbers[i] = static_cast<std::int64_t>(i);
  History sample = test::product_history({{"number", numbers}}, [&](const auto&) {
    return times[static_cast<std::size_t>(order(next++))];
  });
  sample.valid_count = times.size();
  return sample;
}

// Of the configurations of a recorded space, failures included (0 ms).
std::vector<double> times_of(const History& history) {
  std::vector<double> times;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.status[row] == TrialStatus::constraints) continue;
    times.push_back(history.correct(row) ? history.run_time_ns(row) / 1e6 : 0);
  }
  return times;
}

double share_within(const std::vector<double>& times, double limit) {
  const auto good =
      std::count_if(times.begin(), times.end(), [&](double t) { return t > 0 && t <= limit; });
  return static_cast<double>(good) / static_cast<double>(times.size());
}

struct Coverage {
  double interval = 0;    // of the share within q of the best seen
  double upper_end = 0;   // the true fraction is not above it
  double overstated = 0;  // the sample's fraction is not below the true one
  double better = 0;      // the bound on the share of better ones
};

Coverage coverage_of(const std::vector<double>& times, double q, int draws) {
  double best = HUGE_VAL;
  for (const double t : times) best = t > 0 ? std::min(best, t) : best;
  const double true_fraction = share_within(times, best / q);
  const double each = 1.0 / draws;
  Coverage coverage;
  for (int i = 0; i < draws; ++i) {
    const PerformanceDistribution d =
        distribution_of(sample_of(times, static_cast<std::uint64_t>(i) + 1));
    REQUIRE(d.is_sample());
    const auto interval = d.interval(q);
    const double best_seen = d.best_ns / 1e6;
    const double share_of_seen = share_within(times, best_seen / q);
    coverage.interval += interval[0] <= share_of_seen && share_of_seen <= interval[1] ? each : 0;
    coverage.upper_end += true_fraction <= interval[1] ? each : 0;
    coverage.overstated += d.fraction(q) >= true_fraction ? each : 0;
    const double better = share_within(times, best_seen * (1 - 1e-12));
    coverage.better += better <= d.better_share_bound(0.05) ? each : 0;
  }
  return coverage;
}

}  // namespace

TEST_CASE("intervals and bounds of samples hold as often as they say") {
  const Coverage coverage = coverage_of(times_of_space(), 0.8, kDraws);
  // The interval is about a limit that the sample itself sets: a little less than the nominal 95 %.
  CHECK(coverage.interval > 0.92);
  CHECK(coverage.upper_end > 0.975);
  CHECK(coverage.overstated > 0.8);
  // Exactly 95 % with repetition, a little more without; three standard deviations are 1.5 %.
  CHECK(coverage.better > 0.935);
  CHECK(coverage.better < 0.985);
}

TEST_CASE("on recorded spaces they hold too" * doctest::test_suite("recorded data")) {
  const auto paths = test::recorded_caches("kernel_tuner");
  if (paths.empty()) {
    return test::skip(test::kNoRecordedData);
  }
  Coverage mean;
  for (const std::string& path : paths) {
    const auto imported = import_histories(test::read_bytes(path), path);
    REQUIRE(imported.ok());
    const Coverage one = coverage_of(times_of(imported->front()), 0.9, 200);
    CAPTURE(path);
    CHECK(one.upper_end >= 0.95);
    CHECK(one.better >= 0.90);  // 3.2 standard deviations of 200 draws below 95 %
    const double share = 1 / static_cast<double>(paths.size());
    mean.interval += share * one.interval;
    mean.upper_end += share * one.upper_end;
    mean.overstated += share * one.overstated;
    mean.better += share * one.better;
  }
  MESSAGE("coverage: interval " << mean.interval << ", upper end " << mean.upper_end
                                << ", overstated " << mean.overstated << ", better ones "
                                << mean.better);
  CHECK(mean.interval > 0.9);
  CHECK(mean.better > 0.94);
}

TEST_CASE(
    "the bound on better ones is 1 - risk^(1/m), and nothing is better than the best of all") {
  const std::vector<double> times = times_of_space();
  const PerformanceDistribution sample = distribution_of(sample_of(times, 1));
  CHECK(sample.better_share_bound(0.05) ==
        doctest::Approx(1 - std::pow(0.05, 1.0 / kSample)).epsilon(1e-12));
  CHECK(sample.better_share_bound(0.01) > sample.better_share_bound(0.05));
  History whole = sample_of(times, 1);
  whole.valid_count = 0;
  CHECK(distribution_of(whole).better_share_bound() == 0);
  CHECK(distribution_of(History()).better_share_bound() == 1);
}
