// Watches an adopted configuration in production and says when it no longer wins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <idletune/device.hpp>

namespace idletune {

enum class WatchStatus : std::uint8_t {
  unavailable = 0,  // the application's queue has no profiling: nothing can be said
  learning = 1,     // fewer samples than the window
  fine = 2,
  recheck = 3,  // clearly slower than expected, but not slower than the default: measure again
  demote = 4    // slower than the default was: go back to the default
};
// "unavailable", ... Never null.
const char* watch_status_name(WatchStatus status);

// One per adopted (kernel, shape). Fed with sampled device times of production launches; decides on
// medians, so that single disturbed launches do not matter. A plain value; one thread at a time.
class ProductionWatch {
 public:
  static constexpr std::size_t kWindow = 15;  // samples per verdict

  ProductionWatch() = default;
  // `default_time`: of the default configuration here; `expected`: of the adopted one. 0: unknown,
  // then the verdicts that need it are not given.
  ProductionWatch(Nanoseconds default_time, Nanoseconds expected)
      : default_time_(default_time), expected_(expected) {}

  // The same launches, compared with other times.
  void expect(Nanoseconds default_time, Nanoseconds expected) {
    default_time_ = default_time;
    expected_ = expected;
  }
  void sample(Nanoseconds time);  // times that are not positive are ignored
  // The queue has no profiling; a later sample ends this state.
  void profiling_unavailable() { profiling_ = false; }

  WatchStatus status() const;
  Nanoseconds median() const;  // of the window; 0 while learning
  // A careful figure of what each launch saves against the default: default_time minus the upper
  // quartile of the window, negative only if the median is a loss, too: launches that are disturbed
  // would have been with the default; while learning 0, but for a loss in the median. Where the
  // window is faster than expected, the default counts as so much faster, too. Feeds
  // Ledger::credit.
  Nanoseconds saving_per_launch() const;
  std::uint64_t samples() const { return samples_; }

 private:
  Nanoseconds order_statistic(std::size_t numerator, std::size_t denominator) const;

  Nanoseconds default_time_{0};
  Nanoseconds expected_{0};
  std::array<Nanoseconds, kWindow> ring_{};
  std::uint64_t samples_ = 0;
  bool profiling_ = true;
};

}  // namespace idletune
