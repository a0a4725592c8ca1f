// How long somebody has waited, for deadlines.
#pragma once

#include <algorithm>
#include <chrono>

namespace idletune {

// Counts the time during which this process ran. A container that is frozen, a process group that
// is stopped, or a board that sleeps stops whoever waits and what is waited for alike, while the
// clock may run on: of the time between two looks at most three slices count. One thread.
class AwakeTime {
 public:
  using Clock = std::chrono::steady_clock;
  // Whoever waits looks at least this often.
  static constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(20);

  explicit AwakeTime(Clock::time_point start = Clock::now()) : start_(start), seen_(start) {}
  // A look, at `now`: how long it was so far.
  std::chrono::nanoseconds until(Clock::time_point now = Clock::now()) {
    awake_ += std::min<std::chrono::nanoseconds>(now - seen_, 3 * kSlice);
    seen_ = now;
    return awake_;
  }

  // A look: for how long it did not run.
  std::chrono::nanoseconds frozen() {
    const std::chrono::nanoseconds awake = until();
    return seen_ - start_ - awake;
  }

 private:
  Clock::time_point start_;
  Clock::time_point seen_;
  std::chrono::nanoseconds awake_{0};
};

}  // namespace idletune
