#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "agent/host/lab/convergence.hpp"
#include "tests/unit/insight/small_history.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

// And twenty that violate a constraint.
History forty() {
  std::vector<std::int64_t> values;
  for (std::int64_t v = 0; v < 60; ++v) values.push_back(v);
  return test::product_history({{"p", values}}, [](const auto& v) {
    return v[0] >= 40 ? -1.0 : v[0] % 8 == 5 ? 0.0 : 10 + static_cast<double>(v[0] * v[0]);
  });
}

// Expected best of the first n of a random order, in ms: what was not drawn yet is as slow as the
// slowest.
double expected_best(const History& history, std::size_t n) {
  std::vector<double> times;
  double slowest = 0;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.correct(row)) slowest = std::max(slowest, history.run_time[row]);
  }
  for (const std::size_t row : history.valid_rows()) {
    times.push_back(history.correct(row) ? history.run_time[row] : slowest);
  }
  std::sort(times.begin(), times.end());
  const double size = static_cast<double>(times.size());
  double all_later = 1;  // probability that none of the faster ones is among the n
  double mean = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double left = size - static_cast<double>(i);
    const double drawn = std::min(1.0, static_cast<double>(n) / left);
    mean += all_later * drawn * times[i];
    all_later *= 1 - drawn;
  }
  return mean;
}

}  // namespace

TEST_CASE("the mean curve of random search is the expectation of the best so far") {
  const History history = forty();
  const auto target = required(Simulation::of(history));
  ConvergenceOptions options;
  options.repeats = 4000;
  const auto result = required(converge(target, "random", options));
  REQUIRE(result.curve.size() > 20);
  for (const auto& point : result.curve) {
    if (point.step > 12) break;
    CAPTURE(point.step);
    CHECK(point.mean_best_ns / 1e6 ==
          doctest::Approx(expected_best(history, static_cast<std::size_t>(point.step)))
              .epsilon(0.06));
  }
  CHECK(result.reached == 1);
  CHECK(result.curve.back().mean_best_ns == doctest::Approx(10e6));
  // 10 and 11 ms are within 90 % (the median of the first of two among 40 draws is 12).
  REQUIRE(result.median_steps.has_value());
  CHECK(*result.median_steps == doctest::Approx(12).epsilon(0.1));
}

TEST_CASE("the mean reaches the limit at the first step where it does") {
  const History history = forty();
  const auto target = required(Simulation::of(history));
  ConvergenceOptions options;
  options.repeats = 300;
  const auto one = required(converge(target, "annealing", options));
  REQUIRE(one.steps_of_mean.has_value());
  for (const auto& point : one.curve) {
    if (point.step < *one.steps_of_mean) CHECK(point.mean_best_ns > 10e6 / 0.9);
    if (point.step >= *one.steps_of_mean) CHECK(point.mean_best_ns <= 10e6 / 0.9 * 1.0000001);
  }
}

TEST_CASE("a space without anything good enough never converges") {
  const History history = forty();
  const auto target = required(Simulation::of(history));
  ConvergenceOptions options;
  options.repeats = 20;
  const History larger = test::product_history(
      {{"p", {1, 2000}}}, [](const auto& v) { return static_cast<double>(v[0]); });
  options.full = &larger;
  const auto result = required(converge(target, "random", options));
  CHECK_FALSE(result.steps_of_mean.has_value());
  CHECK_FALSE(result.median_steps.has_value());
  CHECK(result.reached == 0);
}

TEST_CASE("an unknown searcher is refused") {
  const History history = forty();
  const auto target = required(Simulation::of(history));
  CHECK(converge(target, "psychic", {}).status().code() == StatusCode::invalid_argument);
}
