#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "agent/host/pictures/density.hpp"
#include "models/core/random.hpp"

using namespace idletune;
using namespace idletune::report;

namespace {

// The trapezoidal integral over [0, 1].
double integral(const Density& density) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < density.height.size(); ++i) {
    sum += (density.height[i] + density.height[i + 1]) / 2;
  }
  return sum / (Density::kPoints - 1);
}

std::size_t peak(const Density& density) {
  return static_cast<std::size_t>(std::max_element(density.height.begin(), density.height.end()) -
                                  density.height.begin());
}

}  // namespace

TEST_CASE("quantiles lie linearly between neighbours") {
  const std::vector<double> values{1, 2, 4, 8};
  CHECK(quantile_of(values, 0) == 1);
  CHECK(quantile_of(values, 0.5) == 3);
  CHECK(quantile_of(values, 0.25) == doctest::Approx(1.75));
  CHECK(quantile_of(values, 1) == 8);
  CHECK(quantile_of(values, 7) == 8);
  CHECK(quantile_of({5}, 0.3) == 5);
}

TEST_CASE("a box has quartiles, whiskers of at most one and a half boxes, and the rest outside") {
  const Box box = box_of({-20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30});
  CHECK(box.lower == 2.5);
  CHECK(box.median == 5);
  CHECK(box.upper == 7.5);
  CHECK(box.low == 1);
  CHECK(box.high == 9);
  CHECK(box.outside == std::vector<double>{-20, 30});
}

TEST_CASE("a box of one value is a line") {
  const Box box = box_of({0.4});
  CHECK(box.low == 0.4);
  CHECK(box.median == 0.4);
  CHECK(box.high == 0.4);
  CHECK(box.outside.empty());
}

TEST_CASE("a single value gives the density of the normal distribution around it") {
  const Density density = density_of({0.5});
  CHECK(density.bandwidth == doctest::Approx(0.005));
  CHECK(Density::position(peak(density)) == doctest::Approx(0.5));
  CHECK(density.highest() ==
        doctest::Approx(1 / (0.005 * std::sqrt(2 * 3.14159265358979))).epsilon(1e-3));
}

TEST_CASE("Silverman's rule on known data") {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back((i + 0.5) / 1000);
  // Standard deviation 0.288675 (sample: 0.288819), quartiles 0.5 apart: 0.9 * 0.288819 *
  // 1000^-0.2.
  CHECK(density_of(values).bandwidth == doctest::Approx(0.9 * 0.288819 * 0.251189).epsilon(1e-4));
}

TEST_CASE("a uniform sample is flat up to both ends, because nothing leaks out") {
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) values.push_back((i + 0.5) / 5000);
  const Density density = density_of(values);
  for (const double height : density.height) CHECK(height == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("densities integrate to one, also with values at the ends") {
  Random random(7);
  std::vector<double> values(400, 1.0);
  for (int i = 0; i < 600; ++i) values.push_back(std::pow(random.uniform(), 3));
  std::sort(values.begin(), values.end());
  const Density density = density_of(values);
  CHECK(integral(density) == doctest::Approx(1).epsilon(0.02));
  CHECK(*std::min_element(density.height.begin(), density.height.end()) >= 0);
}

TEST_CASE("two heaps show as two peaks") {
  std::vector<double> values;
  for (int i = 0; i < 300; ++i) values.push_back(0.2 + 0.0001 * i);
  for (int i = 0; i < 150; ++i) values.push_back(0.8 + 0.0001 * i);
  const Density density = density_of(values);
  CHECK(Density::position(peak(density)) == doctest::Approx(0.215).epsilon(0.05));
  const std::size_t middle = Density::kPoints / 2;
  const std::size_t right = static_cast<std::size_t>(0.8075 * (Density::kPoints - 1));
  CHECK(density.height[right] > 10 * density.height[middle]);
  CHECK(density.height[peak(density)] / density.height[right] == doctest::Approx(2).epsilon(0.1));
}

TEST_CASE("a grid counts every point once, the far edges included") {
  const std::vector<std::uint32_t> counts =
      counts_on_grid({{0, 0}, {1, 1}, {1, 0}, {0.9, 0.9}, {0.9001, 0.9001}}, 70);
  REQUIRE(counts.size() == 70 * 70);
  CHECK(counts[0] == 1);
  CHECK(counts[70 * 69 + 69] == 1);
  CHECK(counts[69] == 1);
  CHECK(*std::max_element(counts.begin(), counts.end()) == 2);
  CHECK(std::accumulate(counts.begin(), counts.end(), 0u) == 5);
}
