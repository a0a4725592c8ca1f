// What the tuner knows about each device of this process. Plain state; the engine is the only one
// to change it, under its lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include <idletune/device.hpp>

namespace idletune::detail {

class DeviceTask {
 public:
  static constexpr std::uint32_t kMaxFaults = 3;  // crashes and hangs before tuning ends here

  DeviceTask(const Device& device, Nanoseconds now) : device_(device), clock_seen_(now) {}

  // The same hardware, also where the application adopted it twice.
  bool is(const Device& device) const {
    return device.info().device_key() == device_.info().device_key() &&
           device.info().index == device_.info().index;
  }

  // Tuning on this device has ended for this process. The reason is one sentence's beginning.
  bool ended() const { return !ended_why_.empty(); }
  const std::string& ended_why() const { return ended_why_; }
  void end(std::string why) {
    if (!ended()) ended_why_ = std::move(why);
  }
  // It works no more, whatever runs; tuning ends on it, too.
  void lose() { lost_ = true; }
  bool lost() const { return lost_; }
  // A trial crashed or hung. After too many the reference alone runs, once, and tuning ends.
  void count_fault() { ++faults_; }
  bool faulty() const { return faults_ >= kMaxFaults; }

  // Somebody killed the helper, and no configuration ran in it: no fault of anything tried here. It
  // is started again after a pause, twice as long each time that this happens in a row (1 s to some
  // 4 minutes). Returns how often it has.
  std::uint32_t helper_was_killed(Nanoseconds now) {
    rests_until_ = now + std::chrono::seconds(1 << std::min(helper_kills_, 8u));
    return ++helper_kills_;
  }
  void helper_answered() { helper_kills_ = 0; }
  bool rests(Nanoseconds now) const { return now < rests_until_; }

  // After each helper that was killed or that crashed the reference runs first in a new one: where
  // it fails there, the device is lost, and nobody is blamed for it.
  bool reference_due() const { return reference_due_; }
  void set_reference_due(bool due) { reference_due_ = due; }

  // Of `wanted` kernel time that nobody measured, at most what the clock says can have passed on
  // one queue: all calls together never get more than the time since this was made.
  Nanoseconds at_most_the_clock(Nanoseconds wanted, Nanoseconds now) {
    see_clock(now);
    const Nanoseconds granted = std::min(wanted, clock_left_);
    clock_left_ -= granted;
    return granted;
  }
  void see_clock(Nanoseconds now) {
    clock_left_ += std::max(now - clock_seen_, Nanoseconds{0});
    clock_seen_ = std::max(clock_seen_, now);
  }
  // Of what passed until it was seen last, what was not granted.
  Nanoseconds clock_left() const { return clock_left_; }

 private:
  const Device& device_;
  std::uint32_t faults_ = 0;
  std::uint32_t helper_kills_ = 0;  // in a row
  Nanoseconds rests_until_{0};
  bool reference_due_ = false;
  bool lost_ = false;
  std::string ended_why_;
  Nanoseconds clock_seen_;
  Nanoseconds clock_left_{0};
};

}  // namespace idletune::detail
