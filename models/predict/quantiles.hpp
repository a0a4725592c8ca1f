// Distributions of relative performance as 33 quantiles, dense at the top where it matters.
#pragma once

#include <array>
#include <cstddef>

#include <idletune/span.hpp>

namespace idletune {

inline constexpr std::size_t kQuantileCount = 33;

// Levels u: 0, 1/16 .. 15/16, then 1 - 2^-5 .. 1 - 2^-20, then 1. Well-performing shares of real
// spaces go down to 10^-4, which a uniform grid of this size could not tell from 0.
std::array<double, kQuantileCount> quantile_levels();

// The lower end of the Wilson interval for a share that `hits` of `count` draws had, `deviations`
// standard deviations below; 0 for no draws.
double wilson_lower(double hits, double count, double deviations);

// kQuantileCount ascending values in [0, 1] that somebody else owns.
class QuantileView {
 public:
  QuantileView() = default;
  explicit QuantileView(Span<const float> values) : values_(values) {}
  // The share of the distribution at or above `q`, linear between levels.
  double share_at_least(double q) const;
  Span<const float> values() const { return values_; }

 private:
  Span<const float> values_;
};

}  // namespace idletune
