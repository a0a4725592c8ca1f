#include <cmath>

#include <doctest/doctest.h>

#include "agent/host/lab/standards.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/search/line_history.hpp"

using namespace idletune;
using idletune::test::line_history;

namespace {

// x = 0 ... size - 1; the first `good` are within 95 % of the best, then it gets slower.
History ramp_history(std::int64_t size, std::int64_t good) {
  return line_history(size, 1.0, [good](std::int64_t x) {
    const double at = static_cast<double>(x);
    return x < good ? 1.0 + 1e-4 * at : 2.0 + at / 100;
  });
}

StandardsOptions quick() {
  StandardsOptions options;
  options.repeats = 200;
  return options;
}

bool always_same() { return true; }

}  // namespace

TEST_CASE("random search's standards are those of draws without replacement") {
  History history = ramp_history(1100, 10);
  test::constrain_from(1000, history);  // are not in the space
  const auto target = required(Simulation::of(history));
  const Standards random = standards_of_random(target, 0.95);
  // P(none of 10 good among n of 1000) = C(990, n) / C(1000, n), from log-gamma.
  const auto missed = [](double n) {
    return std::exp(std::lgamma(991.0) - std::lgamma(991.0 - n) - std::lgamma(1001.0) +
                    std::lgamma(1001.0 - n));
  };
  REQUIRE(random.standard1.has_value());
  REQUIRE(random.standard2.has_value());
  const auto n1 = static_cast<double>(*random.standard1);
  const auto n2 = static_cast<double>(*random.standard2);
  CHECK(missed(n1) <= 0.5);
  CHECK(missed(n1 - 1) > 0.5);
  CHECK(missed(n2) <= 0.05);
  CHECK(missed(n2 - 1) > 0.05);
}

TEST_CASE("simulated random draws need what the exact figure says; IterML on a ramp needs less") {
  const History history = ramp_history(1000, 10);
  const auto target = required(Simulation::of(history));
  const Standards random = standards_of_random(target, 0.95);
  // One pick is random search.
  const auto one = required(standards_of(target, "iterml:cart:iterations=1", quick(), always_same));
  REQUIRE(one.standard1.has_value());
  const double ratio = static_cast<double>(*one.standard1) / static_cast<double>(*random.standard1);
  CHECK(ratio > 0.7);
  CHECK(ratio < 1.3);
  const auto three = required(standards_of(target, "iterml:cart", quick(), always_same));
  REQUIRE(three.standard1.has_value());
  REQUIRE(three.standard2.has_value());
  CHECK(*three.standard1 < *random.standard1 * 7 / 10);
  CHECK(*three.standard2 < *random.standard2 * 7 / 10);
  CHECK(*three.standard1 % 3 == 0);
  const auto forest = required(standards_of(target, "forest", quick(), always_same));
  REQUIRE(forest.standard2.has_value());
  CHECK(*forest.standard1 <= *forest.standard2);
  CHECK(*forest.standard2 < *random.standard2 / 2);
}

TEST_CASE("a standard that is not reached is none, and unknown searchers are refused") {
  const History history = ramp_history(100, 1);
  const auto target = required(Simulation::of(history));
  int calls = 0;
  const auto stopped =
      required(standards_of(target, "iterml:knn", quick(), [&] { return ++calls > 1e9; }));
  CHECK_FALSE(stopped.standard1.has_value());
  CHECK_FALSE(standards_of(target, "best", quick(), always_same).ok());
  StandardsOptions none = quick();
  none.repeats = 0;
  CHECK_FALSE(standards_of(target, "random", none, always_same).ok());
}
