// Factors that round nothing: powers of two that bring numbers into the middle of a precision's
// range, so that neither they nor their squares leave it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <idletune/span.hpp>

namespace idletune::krylov {

class PowerOfTwo {
 public:
  PowerOfTwo() = default;
  explicit PowerOfTwo(int exponent) {
    exponent = std::clamp(exponent, -2000, 2000);
    first_ = std::ldexp(1.0, exponent / 2);
    second_ = std::ldexp(1.0, exponent - exponent / 2);
  }
  double times(double value) const { return value * first_ * second_; }

 private:
  double first_ = 1;  // in two parts, of which each is a number
  double second_ = 1;
};

// The least n such that all are below 2^n; 0 where all are 0. Finite numbers only.
inline int exponent_above(Span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest > 0 ? std::ilogb(largest) + 1 : 0;
}

// How numbers are brought into the range of a precision.
struct Fit {
  int exponent = 0;        // they are multiplied by 2^exponent
  bool far_apart = false;  // the range is too narrow: small ones are less exact then, or 0
};

// Of numbers of so many bytes. The largest is below 1 then; where that would be the end of the
// smallest, both are as far from the ends of the range, but the largest below its third root: sums
// of products of such numbers, and their squares, fit.
inline Fit fitting(Span<const double> values, std::size_t number_bytes) {
  const int range = number_bytes == sizeof(double) ? 1000 : 120;
  double smallest = HUGE_VAL;
  for (const double value : values) {
    if (value != 0) smallest = std::min(smallest, std::fabs(value));
  }
  if (std::isinf(smallest)) return {};
  const int above = exponent_above(values);
  const int below = std::ilogb(smallest);
  if (above - below <= range) return {-above, false};
  return {std::min(-(above + below) / 2, range / 3 - above), true};
}

}  // namespace idletune::krylov
