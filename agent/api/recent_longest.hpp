// The longest of the last few durations of one kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <idletune/device.hpp>

namespace idletune::detail {

class RecentLongest {
 public:
  static constexpr std::size_t kCapacity = 64;
  // Remembers `duration`; returns the longest of those remembered.
  Nanoseconds add(Nanoseconds duration) {
    ring_[next_] = duration;
    next_ = (next_ + 1) % kCapacity;
    return *std::max_element(ring_.begin(), ring_.end());
  }

 private:
  std::array<Nanoseconds, kCapacity> ring_{};
  std::size_t next_ = 0;
};

}  // namespace idletune::detail
