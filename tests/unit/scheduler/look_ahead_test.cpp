#include "agent/scheduler/look_ahead.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/unit/scheduler/decision_inputs.hpp"

using namespace idletune;
using namespace idletune::test;
using doctest::Approx;

TEST_CASE("the look-ahead agrees with the closed form for a space of two values") {
  // t_best = 1 ms is certain (what runs now is predicted to have q = 0.5 and takes 2 ms, and a
  // launch of 1 ms was seen), a draw gains 1 ms with chance 1/2: E[gain of best of k] = (1 - 2^-k)
  // ms.
  DecisionInput input;
  input.current = from_ms(2);
  input.best_here = from_ms(1);
  input.current_relative = 1.0;  // puts the scale at the cut-off
  input.quantiles = kTwoValues;
  input.quantile_levels = kTwoLevels;
  input.step_cost = from_ms(10);
  input.expected_launches = 1000;
  const Decision decision = decide(input);
  // Net gain in ms: 1000 (1 - 2^-k) - 10 k: of k = 1, 2, 4, ... and 3, 6, 12, ... the best is 924.4
  // at k = 6 (897.5 at 4, 916.1 at 8).
  CHECK(decision.best_estimate_ns == Approx(1e6));
  CHECK(decision.verdict == Verdict::tune);
  CHECK(decision.steps == 6);
  CHECK(decision.cost_ns == Approx(60e6));
  CHECK(decision.gain_ns == Approx(984.375e6));
  // In expectation it pays from 20 launches on (k = 1: 10 ms for 0.5 ms a launch). The 25 %
  // quantile of the gain is 1 ms from k = 3 on, where all draws are slow with chance 1/8: from 30
  // launches on.
  CHECK(decision.break_even_launches == Approx(30.0));
  CHECK(decision.pessimistic_net_ns == Approx(970e6));
}

TEST_CASE("launches that pass while steps are made gain nothing") {
  DecisionInput input;
  input.current = from_ms(2);
  input.best_here = from_ms(1);
  input.current_relative = 1.0;
  input.quantiles = kTwoValues;
  input.quantile_levels = kTwoLevels;
  input.step_cost = from_ms(10);
  input.expected_launches = 1000;
  input.launches_per_step = 100;
  const Decision decision = decide(input);
  // Now 900 x 0.5 - 10 = 440, 800 x 0.75 - 20 = 580, 700 x 0.875 - 30 = 582.5, 600 x 0.9375 - 40 =
  // 522.5 (ms) for k = 1, 2, 3, 4; k = 2 is within 1 % of k = 3 and shorter.
  CHECK(decision.verdict == Verdict::tune);
  CHECK(decision.steps == 2);
  CHECK(decision.gain_ns == Approx(600e6));
  input.launches_per_step = 1000;
  CHECK(decide(input).verdict == Verdict::stop);
}

TEST_CASE("improvements below the adoption margin gain nothing") {
  // Everything in the space is within 2 % of the best.
  const std::vector<float> flat{0.98f, 1.0f};
  DecisionInput input = plain(1e9);
  input.quantiles = flat;
  input.current_relative = 0.98;
  input.best_here = from_ms(1);
  const std::vector<float> quantiles = flat;
  const Decision decision = decide(input);
  input.adoption_margin = 0.0;
  CHECK(decision.gain_ns < decide(input).gain_ns);
}
