// IEEE 754 binary16, by its bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace emulated_cuda {

inline double value_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = static_cast<double>(bits & 1023);
  double value =
      std::ldexp(exponent == 0 ? fraction : fraction + 1024, (exponent == 0 ? 1 : exponent) - 25);
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

// The nearest one, of two as near the even one.
inline std::uint16_t half_of(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (value != value) return 0x7fff;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  // In units of the last place; below 2^-14 these no longer shrink.
  int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  if (units == 2048) {
    units = 1024;
    ++exponent;
  }
  const int whole = static_cast<int>(units);
  const int biased = whole < 1024 ? 0 : exponent + 15;
  return static_cast<std::uint16_t>(sign | biased << 10 | (whole & 1023));
}

}  // namespace emulated_cuda
