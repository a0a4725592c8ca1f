// The median as people know it: of an even number of values the mean of the middle two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace idletune {

// 0 of nothing.
inline double median_of_ascending(const std::vector<double>& values) {
  const std::size_t n = values.size();
  return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return median_of_ascending(values);
}

}  // namespace idletune
