#include "agent/belief/draw_laws.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "models/core/random.hpp"

using namespace idletune;
using doctest::Approx;

TEST_CASE("the laws of draws are those of the page") {
  // 20 draws, the median 1.5 times the least.
  UniformDraws draws;
  draws.add(Nanoseconds(1000));
  for (int i = 0; i < 19; ++i) draws.add(Nanoseconds(1500));
  const DrawLaws laws(draws);
  const double g = std::log(1.5) + 0.02;
  CHECK(laws.spread == Approx(g));
  const Tenths distance = laws.distance();
  CHECK(distance[0] ==
        Approx(0.38 * std::pow(20, -0.67) * std::pow(g, 0.56) - 0.004).epsilon(1e-3));
  CHECK(distance[1] ==
        Approx(1.67 * std::pow(20, -0.57) * std::pow(g, 0.70) - 0.004).epsilon(1e-3));
  CHECK(distance[2] ==
        Approx(3.46 * std::pow(20, -0.52) * std::pow(g, 0.59) - 0.004).epsilon(1e-3));
  const Tenths fraction = laws.fraction(0.9);
  CHECK(fraction[0] == Approx(std::exp(-8.23) * std::pow(20, 0.33) * std::pow(g, -1.21)));
  CHECK(fraction[1] == Approx(std::exp(-6.46) * std::pow(20, 0.22) * std::pow(g, -1.65)));
  CHECK(fraction[2] == Approx(std::exp(-4.19) * std::pow(g, -1.77)));
}

TEST_CASE("shares are shares, fewer the higher the ratio, and quantiles are ordered") {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    UniformDraws draws;
    const double spread = 4 * random.uniform();
    for (std::uint64_t i = random.below(100); i > 0; --i) {
      draws.add(Nanoseconds(static_cast<std::int64_t>(1e6 * std::exp(spread * random.uniform()))));
    }
    const DrawLaws laws(draws);
    const Tenths distance = laws.distance();
    CHECK(distance[0] >= 0);
    CHECK(distance[0] <= distance[1]);
    CHECK(distance[1] <= distance[2]);
    double previous = 1;
    for (double ratio : {0.01, 0.5, 0.9, 0.95, 1.0}) {
      const Tenths share = laws.fraction(ratio);
      CHECK(share[2] <= 1);
      CHECK(share[1] > 0);
      CHECK(share[1] <= previous);
      previous = share[1];
    }
  }
}

TEST_CASE("fewer than three correct draws tell nothing, and failed ones nothing of the scale") {
  UniformDraws draws;
  draws.add(Nanoseconds(100));
  draws.add(Nanoseconds(900));
  CHECK(DrawLaws(draws).distance() == DrawLaws().distance());
  draws.add(Nanoseconds(400));
  const Tenths before = DrawLaws(draws).distance();
  for (int i = 0; i < 50; ++i) draws.add_failure();
  CHECK(DrawLaws(draws).distance() == before);
}
