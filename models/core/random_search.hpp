// How many steps random search needs (formula 2 of Olha et al. 2020).
#pragma once

#include <cmath>
#include <limits>

namespace idletune {

// The n with 1 - (1 - fraction)^n = probability, a real number, for draws with replacement: 1 where
// all are good, 0 for no probability, infinite where that is never reached.
inline double steps_for_probability(double fraction, double probability) {
  if (!(probability > 0)) return 0;
  if (!(fraction > 0) || probability >= 1) return std::numeric_limits<double>::infinity();
  if (fraction >= 1) return 1;
  return std::log1p(-probability) / std::log1p(-fraction);
}

// The whole steps of that. What rounding adds to a whole number is no step.
inline double whole_steps(double steps) { return std::ceil(steps - 1e-9); }

}  // namespace idletune
