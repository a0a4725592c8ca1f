#include "agent/scheduler/well_performing.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "agent/belief/uniform_draws.hpp"
#include "models/core/random_search.hpp"
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

TEST_CASE("without a model the share and its interval are those of the laws of draws") {
  DecisionInput input = plain(1e5);
  const Tenths before = DrawLaws().fraction(0.9);
  CHECK(decide(input).fraction == Approx(before[1]));
  CHECK(decide(input).fraction_origin == FractionOrigin::prior);
  UniformDraws draws;
  Random random(9);
  for (int i = 0; i < 60; ++i) draws.add(drawn_time(random));
  input.draws = &draws;
  const Decision after = decide(input);
  const Tenths law = DrawLaws(draws).fraction(0.9);
  CHECK(after.fraction == Approx(law[1]));
  CHECK(after.fraction_low < after.fraction);
  CHECK(after.fraction_high > after.fraction);
  CHECK(after.fraction_origin == FractionOrigin::measured);
  CHECK(after.expected_steps == whole_steps(steps_for_probability(after.fraction, 0.9)));
}

TEST_CASE("an uncertain fraction has an interval, which draws narrow") {
  Believed world;
  DecisionInput input = world.input(1e4);
  const Decision before = decide(input);
  CHECK(before.fraction > 0);
  CHECK(before.fraction_origin == FractionOrigin::model);
  CHECK(before.fraction_low < before.fraction);
  CHECK(before.fraction_high > before.fraction);
  UniformDraws draws;
  input.draws = &draws;
  for (int i = 0; i < 300; ++i) draws.add(from_ms(i % 10 == 0 ? 1.9 : 6));
  const Decision after = decide(input);
  const auto width = [](const Decision& d) { return d.fraction_high / d.fraction_low; };
  CHECK(width(after) < width(before));
}

TEST_CASE("failures in a model's distribution are no configurations that work") {
  // The same distribution but for a fifth that fails.
  Believed whole;
  Believed failing(24, [](test::ModelContent& content) {
    for (test::SourceContent& source : content.sources) {
      for (std::size_t i = 0; i < 4; ++i) source.quantiles[i] = 0;
    }
  });
  for (Believed* world : {&whole, &failing}) {
    for (std::size_t entry : {0u, 2u}) world->tell(entry, 1e6);
  }
  const Decision of_whole = decide(whole.input(1e4));
  const Decision of_failing = decide(failing.input(1e4));
  CHECK(of_failing.best_estimate_ns == Approx(of_whole.best_estimate_ns));
  CHECK(of_failing.gain_ns == Approx(of_whole.gain_ns).epsilon(0.01));
}

TEST_CASE("a history that is a sample counts by the pessimistic end") {
  Believed whole;
  Believed sampled(24, [](test::ModelContent& content) {
    for (test::SourceContent& source : content.sources) {
      source.valid = 100000;
      source.measured = 100;
    }
  });
  CHECK(sampled.beliefs.cautious_fraction(0, 0.9) < whole.beliefs.cautious_fraction(0, 0.9));
  const Decision of_whole = decide(whole.input(1e4));
  const Decision of_sample = decide(sampled.input(1e4));
  CHECK(of_sample.fraction < of_whole.fraction);
  CHECK(of_sample.expected_steps > of_whole.expected_steps);
}

TEST_CASE("a history without uniform draws says nothing about the share") {
  Believed picked(24, [](test::ModelContent& content) {
    for (test::SourceContent& source : content.sources) source.measured = 0;
  });
  const Decision decision = decide(picked.input(1e4));
  CHECK(decision.fraction == Approx(decide(plain(1e4)).fraction));
  CHECK(decision.fraction_origin == FractionOrigin::prior);
}
