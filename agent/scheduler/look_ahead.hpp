// What the next k steps are expected to gain and cost, for the k that is best.
#pragma once

#include <algorithm>

#include "agent/scheduler/best_time.hpp"
#include "agent/scheduler/decision_terms.hpp"

namespace idletune::amortization {

struct LookAhead {
  double steps = 0;
  double cost = 0;
  double gain = 0;
  double pessimistic_net = -kInfinity;
  double break_even_expected =
      kInfinity;  // launches from which on the mean net gain of some k is > 0
  double break_even_careful = kInfinity;  // and its pessimistic quantile
  double break_even_promise = 0;          // from which on the next step cannot break the promise

  double net() const { return gain - cost; }
  double break_even_search() const { return std::max(break_even_expected, break_even_careful); }
  double break_even() const { return std::max(break_even_search(), break_even_promise); }
};

// Launches from which on `cost` is gained back; infinity if it never is.
inline double break_even(double cost, double gain_per_launch, double missed_launches) {
  return gain_per_launch > 0 ? cost / gain_per_launch + missed_launches : kInfinity;
}

// With launches of `current` nanoseconds to be improved on.
LookAhead look_ahead(const DecisionInput& input, const Terms& terms, const Scale& scale,
                     const RelativePerformance& distribution, double current);

}  // namespace idletune::amortization
