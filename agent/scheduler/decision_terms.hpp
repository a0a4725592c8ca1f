// What a decision is computed from: its input with every figure in range.
#pragma once

#include <limits>

#include <idletune/aims.hpp>
#include <idletune/device.hpp>

#include "agent/scheduler/amortization.hpp"

namespace idletune::amortization {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMaxSteps = 1 << 20;
constexpr double kMaxLaunches = 1e15;      // to come; of two without end each has its turn
constexpr double kEightyPercent = 1.2816;  // standard deviations to either end of that interval

// `fallback` for NaN.
double clamp_or(double value, double low, double high, double fallback);

// The input with everything in range.
struct Terms {
  double current = 0;
  double launches = 0;
  double launches_per_step = 0;
  double step_charge = 0;  // kappa times the cost of a step
  double step_charge_high = 0;
  double ratio = kWellPerforming;
  double probability = kWantedProbability;
  double margin = kAdoptionMargin;
  double max_steps = kMaxSteps;
  double known_best = 0;  // the fastest time seen, what runs now included
  double log_clock = 0;
  // What the sources of a model tell; null without one.
  const DevicePosterior* beliefs = nullptr;
  // What tuning may still lose without breaking the promise: fixed part, and part per launch to
  // come. Infinite without a promise.
  double slack = kInfinity;
  double slack_per_launch = 0;
};

Terms terms_of(const DecisionInput& input);

}  // namespace idletune::amortization
