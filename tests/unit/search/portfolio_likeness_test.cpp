#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "agent/search/portfolio_likeness.hpp"
#include "models/space/product_space.hpp"

using namespace idletune;

namespace {

Space grid() {
  const std::vector<std::string> names{"a", "b"};
  const std::vector<std::vector<std::int64_t>> values{{1, 2, 4, 8}, {0, 1}};
  const auto space = product_space(names, values);
  REQUIRE(space.ok());
  return *space;
}

}  // namespace

TEST_CASE("what looks like the portfolio is expected to be quicker") {
  const Space space = grid();
  PortfolioLikeness likeness(space, 1);
  likeness.add({4, 1}, 1.0);
  likeness.add({8, 1}, 0.5);
  likeness.complete();
  CHECK(likeness.log_time({4, 1}) < likeness.log_time({8, 1}));
  CHECK(likeness.log_time({8, 1}) < likeness.log_time({1, 1}));
  CHECK(likeness.log_time({1, 1}) < likeness.log_time({1, 0}));
  CHECK(likeness.log_time({1, 0}) == doctest::Approx(likeness.log_time({2, 0})).epsilon(0.1));
}

TEST_CASE("shares are shrunk towards the space's own, and times go with a tenth of their ratio") {
  const Space space = grid();
  PortfolioLikeness likeness(space, 1);
  likeness.add({4, 1}, 6.0);
  likeness.complete();
  // Of a weight of six and three pseudo entries; a quarter and a half of the space have these
  // values, known from 1,024 draws.
  const double a = std::log((6 + 3 * 0.25) / 9 / 0.25), b = std::log((6 + 3 * 0.5) / 9 / 0.5);
  CHECK(static_cast<double>(likeness.log_time({4, 1})) ==
        doctest::Approx(-0.1 * (a + b)).epsilon(0.06));
}

TEST_CASE("without entries nothing is expected, and neither of what the space does not have") {
  const Space space = grid();
  PortfolioLikeness likeness(space, 1);
  likeness.add({3, 1}, 1.0);
  likeness.complete();
  CHECK(std::fabs(likeness.log_time({1, 0})) < 1e-6f);
  CHECK(likeness.log_time({3, 1}) == 0.0f);
}
