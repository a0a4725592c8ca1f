#include "kernels/krylov/features.hpp"

#include <doctest/doctest.h>

#include "tests/unit/krylov/matrices.hpp"

using namespace idletune;

TEST_CASE("features of small matrices are NumPy's") {
  const auto recorded = test::recorded_features();
  for (const char* name : test::kSmallMatrices) {
    CAPTURE(name);
    test::check_features(test::read_good(test::krylov_data(name)).matrix.pattern,
                         recorded.at(name));
  }
}

TEST_CASE("a matrix without rows has no features, one without entries has its size") {
  krylov::SparsityPattern pattern;
  for (const double feature : krylov::features_of(pattern)) CHECK(feature == 0);
  pattern.rows = pattern.columns = 3;
  pattern.row_start.assign(4, 0);
  const auto features = krylov::features_of(pattern);
  CHECK(features[0] == 3);
  for (std::size_t i = 1; i < features.size(); ++i) CHECK(features[i] == 0);
}
