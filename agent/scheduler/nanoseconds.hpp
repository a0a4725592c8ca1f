// Durations as real numbers, for means and variances of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include <idletune/device.hpp>

namespace idletune {

inline double real_ns(Nanoseconds duration) { return static_cast<double>(duration.count()); }

inline double real_seconds(Nanoseconds duration) { return real_ns(duration) * 1e-9; }

// 0 for a negative duration, which nobody meant.
inline double real_ns_from_0(Nanoseconds duration) { return std::max(0.0, real_ns(duration)); }

// Nothing for what is not above 0; at most some 285 years.
inline Nanoseconds from_ns(double ns) {
  if (!(ns > 0)) return Nanoseconds{0};
  return Nanoseconds(static_cast<std::int64_t>(std::min(ns, 9.0e18)));
}

}  // namespace idletune
