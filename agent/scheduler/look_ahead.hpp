// What the next k steps are expected to gain and cost, for the k that is best.
#pragma once

#include "agent/belief/search_forecast.hpp"
#include "agent/scheduler/decision_terms.hpp"

namespace idletune::amortization {

struct LookAhead {
  double steps = 0;
  double cost = 0;
  double gain = 0;
  double break_even = kInfinity;  // launches from which on the net gain of some k is above 0
  double net() const { return gain - cost; }
};

// Launches from which on `cost` is gained back; infinity if it never is.
inline double break_even(double cost, double gain_per_launch, double missed_launches) {
  return gain_per_launch > 0 ? cost / gain_per_launch + missed_launches : kInfinity;
}

// k steps that save `per_launch`.
void consider(LookAhead& best, const Terms& terms, double k, double per_launch);

// With launches of `current` nanoseconds to be improved on, at most `most` steps of them.
LookAhead look_ahead(const SearchForecast& forecast, const Terms& terms, double current,
                     double most);

// Launches from which on the next step, should it find nothing, leaves the promise unbroken.
double promise_break_even(const Terms& terms);

}  // namespace idletune::amortization
