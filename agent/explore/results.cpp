#include "agent/explore/results.hpp"

#include <algorithm>

namespace idletune::explore {

double median_ns(std::vector<Nanoseconds> samples) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  return (static_cast<double>(samples[(n - 1) / 2].count()) +
          static_cast<double>(samples[n / 2].count())) /
         2;
}

Nanoseconds fastest(const std::vector<Nanoseconds>& samples) {
  if (samples.empty()) return Nanoseconds{0};
  return *std::min_element(samples.begin(), samples.end());
}

}  // namespace idletune::explore
