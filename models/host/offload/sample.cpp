#include "models/host/offload/sample.hpp"

#include <cmath>
#include <limits>

namespace idletune::offload {

double Sample::best_gpu_ms() const {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const double ms : gpu_ms) best = std::fmin(best, ms);
  return best;
}

void SampleSet::remark(std::size_t count, std::size_t all, const char* what,
                       const std::string& path) {
  if (count == 0) return;
  remarks.push_back((path.empty() ? "" : path + ": ") + std::to_string(count) + " of " +
                    std::to_string(all) + " " + what);
}

SampleSet only_variant(const SampleSet& set, std::size_t variant) {
  SampleSet one = set;
  one.variants = {set.variants[variant]};
  one.samples.clear();
  for (const Sample& sample : set.samples) {
    if (std::isnan(sample.gpu_ms[variant])) continue;
    one.samples.push_back(sample);
    one.samples.back().gpu_ms = {sample.gpu_ms[variant]};
  }
  return one;
}

}  // namespace idletune::offload
