// Wall-clock time since a moment, and times in microseconds.
#pragma once

#include <chrono>

namespace idletune::krylov {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace idletune::krylov
