// The estimate of t_best on this device.
#pragma once

#include "agent/belief/draw_laws.hpp"
#include "agent/scheduler/decision_terms.hpp"

namespace idletune::amortization {

// The 10 %, 50 % and 90 % quantiles of t_best in ns, ascending: from the entries of the portfolio
// that ran here, else from the uniform draws. `terms.current` > 0.
Tenths best_time(const DecisionInput& input, const Terms& terms);

}  // namespace idletune::amortization
