#include "models/host/learn/ridge.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace {

using idletune::learners::ridge_regression;

struct Data {
  std::vector<double> rows, targets;
};

Data made() {
  Data data;
  for (int i = 0; i < 12; ++i) {
    const double a = i * 7 % 5;
    const double b = i * i % 11;
    data.rows.insert(data.rows.end(), {a, b, 3.0});
    data.targets.push_back(2 + 0.5 * a - 0.25 * b + i * 3 % 4 * 0.1);
  }
  return data;
}

TEST_CASE("ridge regression equals scikit-learn's behind its StandardScaler") {
  // Of scikit-learn 1.9.1: Ridge(alpha) on StandardScaler().fit_transform(rows), coefficients put
  // back to the inputs as they are; the third column is constant.
  const Data data = made();
  const struct {
    double penalty, constant, a, b;
  } goldens[] = {{1, 2.178642712688716, 0.46176389996705214, -0.2386935988986303},
                 {0.01, 2.1796609474603614, 0.5080713306943282, -0.2621250146545353},
                 {20, 2.1652911163927526, 0.16769608451518622, -0.0880183467283437}};
  for (const auto& golden : goldens) {
    CAPTURE(golden.penalty);
    const auto fitted = ridge_regression(data.rows, 3, data.targets, golden.penalty);
    REQUIRE(fitted.ok());
    CHECK((*fitted)[0] == doctest::Approx(golden.constant).epsilon(1e-12));
    CHECK((*fitted)[1] == doctest::Approx(golden.a).epsilon(1e-12));
    CHECK((*fitted)[2] == doctest::Approx(golden.b).epsilon(1e-12));
    CHECK((*fitted)[3] == 0);
  }
}

TEST_CASE("ridge regression refuses what it cannot learn from") {
  Data data = made();
  CHECK(!ridge_regression(data.rows, 3, data.targets, 0).ok());
  CHECK(!ridge_regression(data.rows, 2, data.targets, 1).ok());
  CHECK(!ridge_regression({}, 3, {}, 1).ok());
  data.targets[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK(!ridge_regression(data.rows, 3, data.targets, 1).ok());
}

}  // namespace
