#include "agent/scheduler/well_performing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "agent/belief/uniform_draws.hpp"
#include "tests/unit/scheduler/decision_inputs.hpp"

using namespace idletune;
using namespace idletune::test;
using doctest::Approx;

TEST_CASE("the number of steps is formula 2 of the paper") {
  // The paper's own example: 1 % well-performing, 90 % chance: about 230 configurations.
  CHECK(steps_for_probability(0.01, 0.9) == Approx(229.105).epsilon(1e-5));
  CHECK(std::ceil(steps_for_probability(0.01, 0.9)) == 230);
  CHECK(steps_for_probability(0.05, 0.95) == Approx(58.404).epsilon(1e-4));
  CHECK(steps_for_probability(0.5, 0.75) == Approx(2.0));
}

TEST_CASE("the number of steps has sensible ends") {
  CHECK(steps_for_probability(0, 0.9) == kInfinity);
  CHECK(steps_for_probability(-1, 0.9) == kInfinity);
  CHECK(steps_for_probability(std::nan(""), 0.9) == kInfinity);
  CHECK(steps_for_probability(1, 0.9) == 1);
  CHECK(steps_for_probability(0.1, 0) == 0);
  CHECK(steps_for_probability(0.1, 1) == kInfinity);
  CHECK(steps_for_probability(1e-12, 0.9) == Approx(2.302585e12).epsilon(1e-5));
}

// The chance that n uniform draws contain a well-performing one is 1 - (1 - p_b)^n.
TEST_CASE("formula 2 is the inverse of formula 1") {
  for (double fraction : {0.0005, 0.01, 0.3, 0.9}) {
    for (double probability : {0.1, 0.5, 0.9, 0.999}) {
      CAPTURE(fraction);
      const double steps = steps_for_probability(fraction, probability);
      CHECK(1 - std::pow(1 - fraction, steps) == Approx(probability));
    }
  }
}

TEST_CASE("the reported steps follow the fraction that a model gives") {
  DecisionInput input = plain(1e5);
  input.fraction = 0.01;
  const Decision decision = decide(input);
  CHECK(decision.fraction == Approx(0.01));
  CHECK(decision.fraction_origin == FractionOrigin::model);
  CHECK(decision.expected_steps == 230);
  input.fraction = 0.0;
  CHECK(decide(input).expected_steps == kInfinity);
}

TEST_CASE("draws that fail lower the believed share and with it the gain of a step") {
  // A Gamma prior worth 2 hits in 2 / p_b draws: (2 + 0) / (200 + 100).
  UniformDraws draws;
  DecisionInput input = plain(100);
  input.fraction = 0.01;
  const Decision before = decide(input);
  input.draws = &draws;
  for (int i = 0; i < 100; ++i) draws.add_failure();
  const Decision after = decide(input);
  CHECK(after.fraction == Approx(2.0 / 300));
  CHECK(after.fraction_origin == FractionOrigin::model);
  CHECK(after.gain_ns < before.gain_ns / 2);  // of what improves at all, far more was expected
  CHECK(after.break_even_launches > before.break_even_launches);
  for (int i = 0; i < 101; ++i) draws.add_failure();
  CHECK(decide(input).fraction_origin == FractionOrigin::measured);
}

TEST_CASE("an uncertain fraction has an interval, which draws narrow") {
  Believed world;
  DecisionInput input = world.input(1e4);
  const Decision before = decide(input);
  CHECK(before.fraction > 0);
  CHECK(before.fraction_low < before.fraction);
  CHECK(before.fraction_high > before.fraction);
  UniformDraws draws;
  input.draws = &draws;
  for (int i = 0; i < 300; ++i) draws.add(from_ms(i % 10 == 0 ? 1.9 : 6));
  const Decision after = decide(input);
  const auto width = [](const Decision& d) {
    return d.fraction_high / std::max(1e-9, d.fraction_low);
  };
  CHECK(width(after) < width(before));
}

TEST_CASE("a history that is a sample counts by the pessimistic end") {
  Believed whole;
  Believed sampled(24, [](test::ModelContent& content) {
    for (test::SourceContent& source : content.sources) {
      source.valid = 100000;
      source.measured = 100;
    }
  });
  CHECK(sampled.model->kernels()[0].cautious_fraction(0.9) <
        whole.model->kernels()[0].cautious_fraction(0.9));
  const Decision of_whole = decide(whole.input(1e4));
  const Decision of_sample = decide(sampled.input(1e4));
  CHECK(of_sample.fraction < of_whole.fraction);
  CHECK(of_sample.expected_steps > of_whole.expected_steps);
  CHECK(of_sample.gain_ns - of_sample.cost_ns <= of_whole.gain_ns - of_whole.cost_ns);
}
