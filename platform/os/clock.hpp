// What time it is. Budgets and gaps are measured by a clock that tests can script.
#pragma once

#include <chrono>
#include <cstdint>

namespace idletune {

class MonotonicClock {
 public:
  // Never goes back; where zero lies means nothing. Any thread.
  virtual std::chrono::nanoseconds now() const = 0;
  // Since 1970, by the system's clock, which may be set back. Played time counts from its own zero.
  virtual std::int64_t unix_seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(now()).count();
  }

 protected:
  ~MonotonicClock() = default;  // nobody owns one through this interface
};

// std::chrono::steady_clock. Lives as long as the process.
const MonotonicClock& real_clock();

}  // namespace idletune
