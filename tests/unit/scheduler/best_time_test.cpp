#include "agent/scheduler/best_time.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/unit/scheduler/decision_inputs.hpp"

using namespace idletune;
using namespace idletune::test;
using doctest::Approx;

TEST_CASE("t_best is learned from the fast end of the draws, and more of them make it surer") {
  double previous = 10;
  for (int count : {5, 20, 80, 300}) {
    double width = 0;
    int held = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Random random(seed);
      UniformDraws draws;
      for (int i = 0; i < count; ++i) draws.add(drawn_time(random));
      DecisionInput input = plain(1e4);
      input.current = from_ms(5);
      input.draws = &draws;
      const Decision decision = decide(input);
      CHECK(decision.best_estimate_ns <= static_cast<double>(draws.best().count()));
      width += std::log(decision.best_high_ns / decision.best_low_ns) / 60;
      held += decision.best_low_ns <= 1e6 && 1e6 <= decision.best_high_ns ? 1 : 0;
    }
    CHECK(width < previous);
    previous = width;
    CHECK(held >= 36);  // of a space that the laws were not made of
  }
}

TEST_CASE("slow draws do not move t_best") {
  UniformDraws few;
  UniformDraws tail;
  for (int i = 0; i < 40; ++i) {
    few.add(from_ms(1 + 0.05 * i));
    tail.add(from_ms(i < 25 ? 1 + 0.05 * i : 1000.0 * i));
  }
  DecisionInput input = plain(1e4);
  input.draws = &few;
  const double before = decide(input).best_estimate_ns;
  input.draws = &tail;
  CHECK(decide(input).best_estimate_ns == Approx(before).epsilon(0.01));
}

TEST_CASE("entries that ran here tell t_best by the sources that measured them") {
  Believed world;
  for (std::size_t entry : {4u, 5u, 6u, 7u}) {
    world.tell(entry, 1e6 / world.beliefs.relative(entry, 0));
  }
  const Decision decision = decide(world.input(1e4));
  CHECK(std::log(decision.best_estimate_ns / 1e6) == Approx(0).epsilon(0.15));
  CHECK(decision.best_low_ns < 1e6);
  CHECK(decision.best_low_ns > 0.5e6);
  CHECK(decision.best_high_ns > 1e6);
}

TEST_CASE("a source that measured none of the entries told here does not move t_best") {
  // A sample that the device's own first entries are not in, and one that failed at them.
  for (float unknown : {-1.0f, 0.0f}) {
    Believed world(24, [unknown](ModelContent& content) {
      for (std::size_t i = 0; i < 4; ++i) content.portfolio_relative[2 * i + 1] = unknown;
    });
    for (std::size_t i : {0u, 2u}) world.tell(i, 1.2e6);
    const Decision decision = decide(world.input(1e4));
    CHECK(decision.best_estimate_ns > 0.5e6);
    CHECK(decision.best_low_ns > 0.3e6);
  }
}

TEST_CASE("what lies above the fastest seen counts as equal to it") {
  Believed world;
  world.tell(0, 1e6 / world.beliefs.relative(0, 0));
  DecisionInput input = world.input(1e4);
  input.best_here = from_ms(0.5);
  const Decision decision = decide(input);
  CHECK(decision.best_estimate_ns <= 0.5e6 * 1.001);
  CHECK(decision.best_high_ns == Approx(0.5e6));
}
