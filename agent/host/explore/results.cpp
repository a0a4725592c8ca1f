#include "agent/host/explore/results.hpp"

#include <algorithm>
#include <utility>

#include "models/core/median.hpp"

namespace idletune::explore {

double median_ns(const std::vector<Nanoseconds>& samples) {
  std::vector<double> ns;
  for (const Nanoseconds sample : samples) ns.push_back(static_cast<double>(sample.count()));
  return median_of(std::move(ns));
}

Nanoseconds fastest(const std::vector<Nanoseconds>& samples) {
  if (samples.empty()) return Nanoseconds{0};
  return *std::min_element(samples.begin(), samples.end());
}

}  // namespace idletune::explore
