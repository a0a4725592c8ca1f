// What uniform random draws from a tuning space took on this device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <idletune/device.hpp>
#include <idletune/span.hpp>

namespace idletune {

// Counts and a bounded uniform sample (a reservoir, Vitter 1985, algorithm R) of the run times of
// *uniform* draws. Picks of a portfolio or a learner are not uniform draws and must not be added:
// they would make the space look better than it is. Deterministic: the same draws in the same order
// give the same sample. A plain value of about 550 bytes; one thread at a time.
class UniformDraws {
 public:
  static constexpr std::size_t kCapacity = 64;

  // A draw that ran correctly in `time`; a time that is not positive counts as a failure.
  void add(Nanoseconds time);
  // A draw that failed in any way: relative performance 0.
  void add_failure() { ++failed_; }
  // The draw that took about `time` counts as a failure from now on.
  void take_back(Nanoseconds time);

  std::uint32_t count() const { return correct_ + failed_; }
  std::uint32_t correct() const { return correct_; }
  std::uint32_t failed() const { return failed_; }
  // The fastest of all correct draws, also of those no longer in the sample (until one is taken
  // back); 0 if there is none.
  Nanoseconds best() const { return best_; }
  // Sampled times, fastest first; all of them while there are at most kCapacity.
  Span<const Nanoseconds> times() const { return {times_.data(), size_}; }

 private:
  void insert(Nanoseconds time);
  void erase(std::size_t place);

  std::array<Nanoseconds, kCapacity> times_{};
  std::size_t size_ = 0;
  std::uint32_t correct_ = 0;
  std::uint32_t failed_ = 0;
  Nanoseconds best_{0};
  std::uint64_t random_state_ = 0x9e3779b97f4a7c15u;
};

}  // namespace idletune
