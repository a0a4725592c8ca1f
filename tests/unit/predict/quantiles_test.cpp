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

TEST_CASE("the share at or above a value is linear between the levels") {
  std::vector<float> uniform;
  for (const double level : quantile_levels()) uniform.push_back(static_cast<float>(level));
  const QuantileView view{Span<const float>(uniform.data(), uniform.size())};
  for (const double u : {0.01, 0.3, 0.5, 0.93, 0.97, 0.999}) {
    CHECK(view.share_at_least(u) == doctest::Approx(1 - u).epsilon(1e-6));
  }
  CHECK(view.share_at_least(0) == 1);
  CHECK(view.share_at_least(1.1) == 0);
}

TEST_CASE("an empty view knows nothing and says 0") {
  CHECK(QuantileView().share_at_least(0.5) == 0);
}
