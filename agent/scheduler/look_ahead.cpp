#include "agent/scheduler/look_ahead.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::amortization {
namespace {

constexpr double kFineLookAhead = 64;  // up to here also 3, 6, 12, ...
constexpr double kLongestLookAhead = 1024;

}  // namespace

void consider(LookAhead& best, const Terms& terms, double k, double per_launch) {
  const double cost = k * terms.step_charge;
  const double missed = k * terms.launches_per_step;
  const double gain = std::max(0.0, terms.launches - missed) * per_launch;
  const double net = gain - cost;
  // A longer search has to be worth its while: of net gains within 1 % the one with fewer steps.
  const double tolerance = 0.01 * std::fabs(best.net());
  if (best.steps == 0 || net > best.net() + (k > best.steps ? tolerance : -tolerance)) {
    best.steps = k;
    best.cost = cost;
    best.gain = gain;
  }
  best.break_even = std::min(best.break_even, break_even(cost, per_launch, missed));
}

LookAhead look_ahead(const SearchForecast& forecast, const Terms& terms, double current,
                     double most) {
  LookAhead best;
  for (double power = 1; power <= std::min(most, kLongestLookAhead); power *= 2) {
    for (double k : {power, 1.5 * power}) {
      const bool coarse = k > kFineLookAhead && k > power;
      if (k > most || k != std::floor(k) || coarse) continue;
      consider(best, terms, k, current * forecast.gain(k));
    }
  }
  return best;
}

double promise_break_even(const Terms& terms) {
  const double missing = terms.step_charge_high - terms.slack;
  return missing > 0 ? break_even(missing, terms.slack_per_launch, 0) : 0;
}

}  // namespace idletune::amortization
