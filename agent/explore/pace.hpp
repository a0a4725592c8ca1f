// How often explorations write down what they have, and look around while they wait.
#pragma once

#include <chrono>
#include <cstdint>

#include <idletune/device.hpp>

namespace idletune::explore {

inline constexpr Nanoseconds kSyncInterval = std::chrono::seconds(2);
inline constexpr Nanoseconds kPollSlice = std::chrono::milliseconds(200);

inline std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace idletune::explore
