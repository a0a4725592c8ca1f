// The share of the space that performs well, as believed after what was measured here.
#pragma once

#include "agent/scheduler/decision_terms.hpp"

namespace idletune::amortization {

// Fills the decision's fraction, its interval and origin, and the expected steps.
void report_fraction(Decision& decision, const DecisionInput& input, const Terms& terms);

}  // namespace idletune::amortization
