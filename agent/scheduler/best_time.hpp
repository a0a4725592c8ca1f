// The estimate of t_best on this device.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/belief/relative_performance.hpp"
#include "agent/belief/search_forecast.hpp"
#include "agent/scheduler/decision_terms.hpp"

namespace idletune::amortization {

// t_best on this device: log-normal, cut off at the fastest time seen.
struct Scale {
  double mean_log = 0;
  double spread = 0;
  double known_best = 0;
  ScaleGuess by_rank;  // of what runs now alone, where nothing predicts that

  double at(double deviations) const {
    return std::min(known_best, std::exp(mean_log + deviations * spread));
  }
};

struct Node {
  double deviations;
  double weight;
};
// Three-point Gauss-Hermite quadrature over the scale.
constexpr std::array<Node, 3> kNodes{
    {{-1.7320508075688772, 1.0 / 6}, {0.0, 2.0 / 3}, {1.7320508075688772, 1.0 / 6}}};

// From what runs now, its predicted relative performance, and the draws. `terms.current` > 0.
Scale estimate_scale(const DecisionInput& input, const Terms& terms,
                     const RelativePerformance& distribution);

}  // namespace idletune::amortization
