#include "models/host/learn/sample_quantiles.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace idletune;

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

TEST_CASE("many equal values make a jump, not a division by zero") {
  std::vector<double> sorted(1000, 0.0);
  sorted.resize(1500, 1.0);
  const auto quantiles = quantiles_of(sorted);
  const QuantileView view{Span<const float>(quantiles.data(), quantiles.size())};
  CHECK(view.share_at_least(0) == 1);
  CHECK(view.share_at_least(1e-9) == doctest::Approx(1.0 / 3).epsilon(0.1));
  CHECK(quantiles[8] == 0);
  CHECK(quantiles[15] == 1);
}
