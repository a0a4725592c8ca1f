#include "models/host/learn/sample_quantiles.hpp"

#include <algorithm>
#include <cmath>

namespace idletune {

std::array<float, kQuantileCount> quantiles_of(Span<const double> sorted) {
  const std::array<double, kQuantileCount> levels = quantile_levels();
  std::array<float, kQuantileCount> quantiles{};
  const double count = static_cast<double>(sorted.size());
  for (std::size_t i = 0; i < kQuantileCount; ++i) {
    const double rank = std::ceil(levels[i] * count);  // 1-based; exact: levels are dyadic
    const std::size_t index = rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1;
    quantiles[i] = static_cast<float>(sorted[std::min(index, sorted.size() - 1)]);
  }
  return quantiles;
}

}  // namespace idletune
