// How a run on a device is waited for: by looking, since a blocking wait could not be given up.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <idletune/device.hpp>

#include "platform/os/awake_time.hpp"

namespace idletune {

// Processor time that this process has had so far.
inline Nanoseconds processor_time_of_process() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

inline constexpr int kLongestStarving = 10;  // deadlines

// Whether what ran out of time on a processor had less than half of its deadline there, because
// others kept the processors busy: no fault of its own. Not for more than kLongestStarving
// deadlines: what hangs without computing looks the same.
inline bool has_starved(Nanoseconds elapsed, Nanoseconds deadline, Nanoseconds processor_time) {
  return processor_time < deadline / 2 && elapsed / kLongestStarving < deadline;
}

// Paces the looks at one run: without sleeping for 50 us, so that short runs are timed well, then
// with sleeps from 20 us to 1 ms.
class CompletionWait {
 public:
  using Clock = AwakeTime::Clock;
  using ProcessorTime = Nanoseconds (*)();

  // `deadline` counts from `start` while this process is awake; zero or less: none.
  // `processor_time`: for devices that compute on the processor, which a process of low priority
  // may wait for long. A run that had less than half of its deadline in processor time gets more,
  // up to ten deadlines. Null: not so.
  CompletionWait(Clock::time_point start, Nanoseconds deadline,
                 ProcessorTime processor_time = nullptr)
      : awake_(start),
        deadline_(deadline),
        processor_time_(processor_time),
        processor_time_before_(processor_time != nullptr ? processor_time() : Nanoseconds(0)) {}

  // After a look that found the run unfinished. False when the deadline has passed; else it may
  // have slept, and the caller looks again.
  bool again() {
    if (!has_time(Clock::now())) return false;
    if (waited_ < std::chrono::microseconds(50)) return true;
    const bool near_its_end = is_limited() && waited_ < deadline_;
    std::this_thread::sleep_for(near_its_end ? std::min(sleep_, deadline_ - waited_) : sleep_);
    sleep_ = std::min<Nanoseconds>(sleep_ * 5 / 4, std::chrono::milliseconds(1));
    return true;
  }
  // The look alone, at `now`.
  bool has_time(Clock::time_point now) {
    waited_ = awake_.until(now);
    return !is_limited() || waited_ < deadline_ || has_starved();
  }

 private:
  bool is_limited() const { return deadline_ > Nanoseconds::zero(); }
  bool has_starved() const {
    return processor_time_ != nullptr &&
           idletune::has_starved(waited_, deadline_, processor_time_() - processor_time_before_);
  }

  AwakeTime awake_;
  Nanoseconds waited_{0};
  Nanoseconds deadline_;
  ProcessorTime processor_time_;
  Nanoseconds processor_time_before_;
  Nanoseconds sleep_ = std::chrono::microseconds(20);
};

}  // namespace idletune
