// How long the configurations of the kernel that nobody compiles (played_kernel.hpp) take.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include <idletune/configuration.hpp>

#include "agent/host/lab/replayed_trials.hpp"

namespace idletune::test {

// 4 ms at the default, 1 ms at A = B = 8, between them elsewhere.
inline Nanoseconds played_time(std::int64_t a, std::int64_t b) {
  const double distance = std::hypot(static_cast<double>(a - 8), static_cast<double>(b - 8));
  return Nanoseconds(static_cast<std::int64_t>(1e6 + 3e6 * std::min(1.0, distance / 9.9)));
}

// Every configuration with that time, after 20 ms of compiling.
inline RecordedTrial played(const Configuration& configuration) {
  return {TrialStatus::correct, played_time(configuration[0], configuration[1]),
          std::chrono::milliseconds(20)};
}

// Kills the helper that checks it (tests/unit/trial/replaying_helper.cpp).
inline const Configuration kDeadly{16, 16};

}  // namespace idletune::test
