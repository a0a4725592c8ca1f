#include <vector>

#include <doctest/doctest.h>

#include "models/predict/quantiles.hpp"

using namespace idletune;

TEST_CASE("the levels ascend from 0 to 1 and are dense at the top") {
  const auto levels = quantile_levels();
  CHECK(levels.front() == 0);
  CHECK(levels[15] == 15.0 / 16);
  CHECK(levels[16] == 1 - 1.0 / 32);
  CHECK(levels[31] == 1 - 1.0 / (1 << 20));
  CHECK(levels.back() == 1);
  for (std::size_t i = 1; i < levels.size(); ++i) CHECK(levels[i] > levels[i - 1]);
}

TEST_CASE("quantiles are values that occur") {
  std::vector<double> sorted;
  for (int i = 1; i <= 64; ++i) sorted.push_back(i / 64.0);
  const auto quantiles = quantiles_of(sorted);
  CHECK(quantiles[0] == 1.0f / 64);
  CHECK(quantiles[1] == 4.0f / 64);
  CHECK(quantiles[15] == 60.0f / 64);
  CHECK(quantiles[16] == 62.0f / 64);
  CHECK(quantiles[32] == 1.0f);
  const std::vector<double> one{0.25};
  for (const float q : quantiles_of(one)) CHECK(q == 0.25f);
}

TEST_CASE("the share at or above a value is the inverse of the quantile") {
  std::vector<double> sorted;
  for (int i = 1; i <= 4096; ++i) sorted.push_back(i / 4096.0);
  const auto quantiles = quantiles_of(sorted);
  const QuantileView view{Span<const float>(quantiles.data(), quantiles.size())};
  for (const double u : {0.01, 0.3, 0.5, 0.93, 0.97, 0.999}) {
    CHECK(view.value(u) == doctest::Approx(u).epsilon(0.01));
    CHECK(view.share_at_least(view.value(u)) == doctest::Approx(1 - u).epsilon(1e-9));
  }
  CHECK(view.share_at_least(0) == 1);
  CHECK(view.share_at_least(1.1) == 0);
  CHECK(view.value(-1) == view.value(0));
  CHECK(view.value(2) == 1);
}

TEST_CASE("many equal values make a jump, not a division by zero") {
  std::vector<double> sorted(1000, 0.0);
  sorted.resize(1500, 1.0);
  const auto quantiles = quantiles_of(sorted);
  const QuantileView view{Span<const float>(quantiles.data(), quantiles.size())};
  CHECK(view.share_at_least(0) == 1);
  CHECK(view.share_at_least(1e-9) == doctest::Approx(1.0 / 3).epsilon(0.1));
  CHECK(view.value(0.5) == 0);
  CHECK(view.value(0.9) == 1);
}

TEST_CASE("an empty view knows nothing and says 0") {
  CHECK(QuantileView().value(0.5) == 0);
  CHECK(QuantileView().share_at_least(0.5) == 0);
}
