// How often explorations look around while they wait, and their clock.
#pragma once

#include <chrono>
#include <cstdint>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

namespace idletune::explore {

inline constexpr Nanoseconds kPollSlice = std::chrono::milliseconds(200);

// What run() answers where give_up said so.
inline Status given_up() { return {StatusCode::busy, "given up while a configuration was tried"}; }

inline std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace idletune::explore
