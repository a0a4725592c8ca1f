#include "agent/belief/relative_performance.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "models/core/random.hpp"

using namespace idletune;
using doctest::Approx;

namespace {

double total_mass(const RelativePerformance& distribution) {
  double mass = 0;
  for (std::size_t i = 0; i + 1 < distribution.size(); ++i) mass += distribution.bin_mass(i);
  return mass;
}

}  // namespace

TEST_CASE("equally spaced quantiles give the shares between them by interpolation") {
  const std::vector<float> quantiles{0.0f, 0.2f, 0.4f, 0.8f, 1.0f};  // levels 0, 0.25, ..., 1
  const auto distribution = RelativePerformance::from_quantiles(quantiles, {});
  CHECK(total_mass(distribution) == Approx(1.0));
  CHECK(distribution.share_at_least(0.8) == Approx(0.25));
  CHECK(distribution.share_at_least(0.9) == Approx(0.125));
  CHECK(distribution.share_at_least(0.4) == Approx(0.5));
  CHECK(distribution.share_at_least(0.0) == Approx(1.0));
}

TEST_CASE("levels of their own resolve the fast end") {
  const std::vector<float> quantiles{0.1f, 0.5f, 0.9f, 1.0f};
  const std::vector<float> levels{0.0f, 0.9f, 0.997f, 1.0f};
  const auto distribution = RelativePerformance::from_quantiles(quantiles, levels);
  CHECK(distribution.share_at_least(0.9) == Approx(0.003).epsilon(1e-4));
}

TEST_CASE("quantiles out of order, out of range or not a number are tamed") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> quantiles{-3.0f, 0.5f, 0.2f, nan, 7.0f};
  const auto distribution = RelativePerformance::from_quantiles(quantiles, {});
  CHECK(total_mass(distribution) == Approx(1.0));
  double previous = 0;
  for (std::size_t i = 0; i + 1 < distribution.size(); ++i) {
    CHECK(distribution.bin_value(i) >= previous);
    CHECK(distribution.bin_value(i) <= 1.0);
    CHECK(distribution.bin_mass(i) >= 0.0);
    previous = distribution.bin_value(i);
  }
  const std::vector<float> useless{nan, nan, nan};
  CHECK(RelativePerformance::from_quantiles(useless, {}).share_at_least(0.9) ==
        RelativePerformance::prior().share_at_least(0.9));
  const std::vector<float> all_failed{0.0f, 0.0f};
  CHECK(RelativePerformance::from_quantiles(all_failed, {}).share_at_least(0.9) ==
        RelativePerformance::prior().share_at_least(0.9));
}

TEST_CASE("more quantiles than fit are thinned and keep both ends") {
  std::vector<float> quantiles;
  for (int i = 0; i <= 1000; ++i) quantiles.push_back(static_cast<float>(i) / 1000);
  auto distribution = RelativePerformance::from_quantiles(quantiles, {});
  CHECK(distribution.size() <= RelativePerformance::kMaxKnots);
  CHECK(distribution.share_at_least(0.75) == Approx(0.25).epsilon(0.01));
  distribution.set_share_at_least(0.9, 0.001);
  CHECK(distribution.share_at_least(0.9) == Approx(0.001));
  CHECK(total_mass(distribution) == Approx(1.0));
}

TEST_CASE("a known fraction replaces the one that the quantiles imply") {
  auto distribution = RelativePerformance::prior();
  for (double share : {0.003, 0.4, 0.0, 1.0}) {
    CAPTURE(share);
    distribution = RelativePerformance::prior();
    distribution.set_share_at_least(0.9, share);
    CHECK(distribution.share_at_least(0.9) == Approx(share));
    CHECK(total_mass(distribution) == Approx(1.0));
  }
}

TEST_CASE("a fraction beyond anything the quantiles reach adds a fast end") {
  const std::vector<float> quantiles{0.1f, 0.5f};
  auto distribution = RelativePerformance::from_quantiles(quantiles, {});
  CHECK(distribution.share_at_least(0.9) == 0.0);
  distribution.set_share_at_least(0.9, 0.02);
  CHECK(distribution.share_at_least(0.9) == Approx(0.02));
}

TEST_CASE("failures do not count among the configurations that work") {
  const std::vector<float> quantiles{0.0f, 0.0f, 0.5f, 1.0f};
  const std::vector<float> levels{0.0f, 0.5f, 0.5f, 1.0f};
  const auto distribution = RelativePerformance::from_quantiles(quantiles, levels);
  CHECK(distribution.correct_quantile(0.0) == Approx(0.5).epsilon(0.01));
  CHECK(distribution.correct_quantile(0.5) == Approx(0.75));
  CHECK(distribution.share_at_least(0.25) == Approx(0.5));
}

TEST_CASE("the prior is stretched towards what was measured, the more the more draws there are") {
  // A flat space: times between 95 and 105, so that q stays above 0.9 everywhere.
  const double before = RelativePerformance::prior().share_at_least(0.9);
  double previous = before;
  for (int count : {10, 100, 1000}) {
    UniformDraws draws;
    Random random(7);
    for (int i = 0; i < count; ++i) {
      draws.add(Nanoseconds(95000 + static_cast<int>(random.below(10000))));
    }
    auto distribution = RelativePerformance::prior();
    distribution.stretch_to(draws);
    CHECK(distribution.share_at_least(0.9) > previous);
    previous = distribution.share_at_least(0.9);
  }
  CHECK(previous > 0.5);
  UniformDraws few;
  for (int i = 0; i < 5; ++i) few.add(Nanoseconds(1000 + i));
  auto distribution = RelativePerformance::prior();
  distribution.stretch_to(few);
  CHECK(distribution.share_at_least(0.9) == before);
}
