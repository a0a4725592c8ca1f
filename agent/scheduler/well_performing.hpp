// The share of the space that performs well, as believed after what was measured here.
#pragma once

#include "agent/belief/relative_performance.hpp"
#include "agent/belief/uniform_draws.hpp"
#include "agent/scheduler/decision_terms.hpp"

namespace idletune::amortization {

// 0 without draws.
double draws_faster_than(const UniformDraws* draws, double time);

// The share of the space with a property that history says `expected` of it has and that `hits` of
// `draws` uniform draws had: a Gamma(strength, strength / expected) prior on a rate.
double updated_share(double expected, double strength, double hits, double draws);

// Fills the decision's fraction, its interval and origin, and the expected steps. Its target must
// be set.
void report_fraction(Decision& decision, const DecisionInput& input, const Terms& terms,
                     const RelativePerformance& distribution);

}  // namespace idletune::amortization
