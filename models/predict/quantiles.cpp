#include "models/predict/quantiles.hpp"

#include <algorithm>
#include <cmath>

namespace idletune {

namespace {

// The level of quantile `i` without building the whole table.
double level(std::size_t i) {
  if (i < 16) return static_cast<double>(i) / 16.0;
  if (i + 1 == kQuantileCount) return 1.0;
  return 1.0 - std::ldexp(1.0, -static_cast<int>(i - 16 + 5));
}

}  // namespace

std::array<double, kQuantileCount> quantile_levels() {
  std::array<double, kQuantileCount> levels{};
  for (std::size_t i = 0; i < kQuantileCount; ++i) levels[i] = level(i);
  return levels;
}

double wilson_lower(double hits, double count, double deviations) {
  if (!(count > 0) || !(hits > 0)) return 0;
  const double share = std::min(1.0, hits / count);
  const double z2 = deviations * deviations / count;
  const double spread = std::sqrt(share * (1 - share) / count + z2 / (4 * count));
  return std::max(0.0, (share + z2 / 2 - deviations * spread) / (1 + z2));
}

double QuantileView::share_at_least(double q) const {
  if (values_.size() != kQuantileCount) return 0;
  if (q <= static_cast<double>(values_[0])) return 1;
  for (std::size_t i = 1; i < kQuantileCount; ++i) {
    const double high = static_cast<double>(values_[i]);
    if (high < q) continue;
    const double low = static_cast<double>(values_[i - 1]);
    return 1 - (level(i - 1) + (level(i) - level(i - 1)) * (q - low) / (high - low));
  }
  return 0;
}

}  // namespace idletune
