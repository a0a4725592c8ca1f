#include "agent/scheduler/look_ahead.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/unit/scheduler/decision_inputs.hpp"

using namespace idletune;
using namespace idletune::test;
using doctest::Approx;

TEST_CASE("the look-ahead takes the number of steps that gains most") {
  UniformDraws draws;
  Random random(5);
  for (int i = 0; i < 30; ++i) draws.add(drawn_time(random));
  DecisionInput input = plain(1e5);
  input.draws = &draws;
  input.tried = 30;
  const Decision decision = decide(input);
  ForecastInput ahead;
  ahead.draws = &draws;
  ahead.tried = 30;
  ahead.behind = std::max(0.0, std::log(1e6 / static_cast<double>(draws.best().count())));
  const SearchForecast forecast(ahead);
  const auto net = [&](double k) { return 1e5 * 1e6 * forecast.gain(k) - k * 50e6; };
  CHECK(decision.verdict == Verdict::tune);
  CHECK(decision.gain_ns - decision.cost_ns == Approx(net(decision.steps)));
  for (double k = 1; k <= 1024; k *= 2) CHECK(net(k) <= 1.0101 * net(decision.steps));
  double least = 1e300;
  for (double k : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0}) {
    least = std::min(least, k * 50e6 / (1e6 * forecast.gain(k)));
  }
  CHECK(decision.break_even_launches <= least * (1 + 1e-9));
}

TEST_CASE("launches that pass while steps are made gain nothing") {
  DecisionInput input = plain(1e5);
  const Decision without = decide(input);
  input.launches_per_step = 100;
  const Decision with = decide(input);
  CHECK(with.break_even_launches == Approx(without.break_even_launches + 100).epsilon(0.05));
  CHECK(with.steps <= without.steps);
  input.launches_per_step = 1e5;
  CHECK(decide(input).verdict == Verdict::stop);
}

TEST_CASE("improvements below the adoption margin gain nothing, with a model and without") {
  Believed world;
  for (std::size_t entry : {0u, 2u, 4u, 6u}) {
    world.tell(entry, 1.9e6 / world.beliefs.relative(entry, 0));
  }
  UniformDraws draws;
  for (int i = 0; i < 30; ++i) draws.add(from_ms(1 + 0.02 * i));
  DecisionInput with = world.input(1e5);
  DecisionInput without = plain(1e5);
  without.draws = &draws;
  for (DecisionInput* input : {&with, &without}) {
    input->adoption_margin = 0.03;
    const double usual = decide(*input).gain_ns;
    input->adoption_margin = 0.3;
    CHECK(decide(*input).gain_ns < usual);
    input->adoption_margin = 0.9;
    CHECK(decide(*input).verdict == Verdict::stop);
  }
}
