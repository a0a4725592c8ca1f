// When the application leaves the device alone, and for how long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <idletune/device.hpp>

namespace idletune {

// Learns the pauses between an application's launches and predicts how much of the current one is
// left. The device counts as busy from a launch until its expected run time has passed; launches
// queue up behind each other. Prediction: the low quantile of (length - elapsed) over remembered
// gaps longer than what has already elapsed, so that inside a frame (many short pauses, one long
// one) the answer is small at first and grows once the short ones are ruled out; where the position
// in the frame tells (the long gap always follows the n-th launch), that is used at once. Longer
// than anything seen, or nothing seen yet: elapsed / 9, the 10 % quantile under a scale-free prior
// (P(gap > x) ~ 1/x). Bounded memory, no allocation; fed and asked by one thread, times of one
// clock, in order.
class IdleGapPredictor {
 public:
  static constexpr std::size_t kCapacity = 128;

  explicit IdleGapPredictor(Nanoseconds start) : busy_until_(start) {}

  // The application launched at `at` something expected to keep the device busy for `run`.
  void on_launch(Nanoseconds at, Nanoseconds run);
  // Launches were lost between the last one fed and the next: the pause between them is not a gap.
  void on_lost_launches();

  // How much idle time is left from `now` with 90 % confidence; 0 while the device is busy.
  Nanoseconds remaining(Nanoseconds now) const;
  // Until when the launches seen keep the device busy.
  Nanoseconds busy_until() const { return busy_until_; }
  // The longest stage that has a realistic chance: the 90th percentile of the lengths seen, 0 with
  // fewer than 8 gaps. What `wait` compares a stage with.
  Nanoseconds longest_usual_gap() const;

 private:
  struct Gap {
    Nanoseconds length{0};
    std::uint32_t position = 0;  // launches since the last long gap
  };
  std::size_t sorted_rests(Nanoseconds elapsed, bool same_position,
                           std::array<Nanoseconds, kCapacity>& rests) const;
  void remember(Nanoseconds length);
  Nanoseconds usual_longest() const;  // of one gap at least

  std::array<Gap, kCapacity> ring_{};
  std::size_t size_ = 0;
  std::size_t next_ = 0;
  Nanoseconds busy_until_;
  bool has_launched_ = false;
  std::uint32_t position_ = 0;
  Nanoseconds long_gap_{0};  // gaps at least this long end a burst of launches
  bool lost_ = false;
};

// Keeps tuning below a share of wall-clock time (a token bucket): time earns allowance at
// `max_duty`, at most `burst` of it is saved up. A stage may start when its cost, or a full bucket,
// is there; what it used is then paid off. Over any stretch T the time used is at most max_duty * T
// + burst + one stage. One thread at a time.
class DutyLimiter {
 public:
  // `max_duty` in [0, 1], clamped. 1: never limits.
  DutyLimiter(double max_duty, Nanoseconds start,
              Nanoseconds burst = std::chrono::milliseconds(200));
  bool allows(Nanoseconds now, Nanoseconds cost) const { return ready_in(now, cost).count() == 0; }
  // How long from `now` until `cost` may start; Nanoseconds::max() if never (duty 0).
  Nanoseconds ready_in(Nanoseconds now, Nanoseconds cost) const;
  void spend(Nanoseconds now, Nanoseconds used);

 private:
  double balance_at(Nanoseconds now) const;

  double max_duty_;
  double burst_ns_;
  double balance_ns_;
  Nanoseconds last_;
};

}  // namespace idletune
