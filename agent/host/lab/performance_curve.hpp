// How good the best configuration so far is, over evaluations and over tuning time. Host side.
#pragma once

#include <cstddef>
#include <vector>

#include <idletune/span.hpp>

#include "agent/host/lab/simulation.hpp"

namespace idletune {

enum class CurveAxis { evaluations, tuning_ms };

// Relative performance of the best configuration that the searches had found by then.
struct CurvePoint {
  double at = 0;  // evaluations, or milliseconds of tuning
  double mean = 0;
  double median = 0;
  double p10 = 0;  // what nine of ten searches had reached
  double p90 = 0;  // what one of ten had
};

// At most `points` of them, evenly on a logarithmic axis, from the first evaluation of any search
// to the last improvement of all. Searches that ended keep their best; those that have nothing that
// runs count as 0. Empty if none of the searches found anything.
std::vector<CurvePoint> performance_curve(Span<const SimulatedSearch> searches, CurveAxis axis,
                                          std::size_t points = 100);

}  // namespace idletune
