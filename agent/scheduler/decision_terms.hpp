// What a decision is computed from: its input with every figure in range.
#pragma once

#include <limits>

#include <idletune/device.hpp>

#include "agent/belief/relative_performance.hpp"
#include "agent/scheduler/amortization.hpp"

namespace idletune::amortization {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMaxSteps = 1 << 20;

// How firmly the share of the space that improves on a given time is believed, in pseudo hits: the
// fractions of one kernel on different devices agree within a factor of a few (Olha et al. 2020,
// tables 4 and 5), those of different kernels do not.
constexpr double kModelHits = 2.0;
constexpr double kPriorHits = 0.5;

// `fallback` for NaN.
double clamp_or(double value, double low, double high, double fallback);

// The input with everything in range.
struct Terms {
  double current = 0;
  double launches = 0;
  double launches_per_step = 0;
  double step_charge = 0;  // kappa times the cost of a step
  double step_charge_high = 0;
  double ratio = 0.9;
  double probability = 0.9;
  double margin = 0.03;
  double pessimism = 0.25;
  double max_steps = kMaxSteps;
  double known_best = 0;  // the fastest time seen, what runs now included
  double draws = 0;
  double hits_strength = kPriorHits;
  bool has_quantiles = false;
  bool has_beliefs = false;
  double entries = 0;  // of the portfolio, that ran here
  // What tuning may still lose without breaking the promise: fixed part, and part per launch to
  // come. Infinite without a promise.
  double slack = kInfinity;
  double slack_per_launch = 0;
  // Of that, what the promise itself leaves, without savings: that much may be staked against the
  // odds.
  double stake = 0;
  double stake_per_launch = 0;
};

Terms terms_of(const DecisionInput& input);

// The distribution of relative performance that the input tells: the model's, or the prior
// stretched to the draws.
RelativePerformance distribution_of(const DecisionInput& input, const Terms& terms);

}  // namespace idletune::amortization
