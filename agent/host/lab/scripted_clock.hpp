// A clock that stands still until somebody says how much time has passed.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "platform/os/clock.hpp"

namespace idletune {

// Any thread.
class ScriptedClock final : public MonotonicClock {
 public:
  explicit ScriptedClock(std::chrono::nanoseconds start = std::chrono::hours(1))
      : now_(start.count()) {}
  std::chrono::nanoseconds now() const override { return std::chrono::nanoseconds(now_.load()); }
  // Negative durations count as none.
  void advance(std::chrono::nanoseconds duration) {
    now_.fetch_add(std::max<std::int64_t>(0, duration.count()));
  }

 private:
  std::atomic<std::int64_t> now_;
};

}  // namespace idletune
