// What time it is. Budgets and gaps are measured by a clock that tests can script.
#pragma once

#include <chrono>

namespace idletune {

class MonotonicClock {
 public:
  // Never goes back; where zero lies means nothing. Any thread.
  virtual std::chrono::nanoseconds now() const = 0;

 protected:
  ~MonotonicClock() = default;  // nobody owns one through this interface
};

// std::chrono::steady_clock. Lives as long as the process.
const MonotonicClock& real_clock();

}  // namespace idletune
