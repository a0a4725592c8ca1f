// Of what benchmarks measured several times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace idletune::bench {

// The value that the share of the others does not exceed.
inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

struct Quartiles {
  double low = 0, median = 0, high = 0;
};

inline Quartiles quartiles(const std::vector<double>& values) {
  return {quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

}  // namespace idletune::bench
