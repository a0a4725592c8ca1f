#include "models/offload/sample.hpp"

#include <cmath>
#include <limits>

namespace idletune::offload {

double Sample::best_gpu_ms() const {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const double ms : gpu_ms) best = std::fmin(best, ms);
  return best;
}

}  // namespace idletune::offload
