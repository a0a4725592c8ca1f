// How a run on a device is waited for: by looking, since a blocking wait could not be given up.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include <idletune/device.hpp>

namespace idletune {

// Paces the looks at one run: without sleeping for 50 us, so that short runs are timed well, then
// with sleeps from 20 us to 1 ms.
class CompletionWait {
 public:
  using Clock = std::chrono::steady_clock;

  // `deadline` counts from `start`; zero or less: none.
  CompletionWait(Clock::time_point start, Nanoseconds deadline)
      : start_(start), deadline_(deadline) {}

  // After a look that found the run unfinished. False when the deadline has passed; else it may
  // have slept, and the caller looks again.
  bool again() {
    const Nanoseconds waited = Clock::now() - start_;
    const bool limited = deadline_ > Nanoseconds::zero();
    if (limited && waited >= deadline_) return false;
    if (waited < std::chrono::microseconds(50)) return true;
    std::this_thread::sleep_for(limited ? std::min(sleep_, deadline_ - waited) : sleep_);
    sleep_ = std::min<Nanoseconds>(sleep_ * 5 / 4, std::chrono::milliseconds(1));
    return true;
  }

 private:
  Clock::time_point start_;
  Nanoseconds deadline_;
  Nanoseconds sleep_ = std::chrono::microseconds(20);
};

}  // namespace idletune
