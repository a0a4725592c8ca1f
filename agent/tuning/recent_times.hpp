// The last few times of one thing, and what is typical of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <idletune/device.hpp>

#include "models/core/order.hpp"

namespace idletune::detail {

class RecentTimes {
 public:
  static constexpr std::size_t kCapacity = 15;
  void add(Nanoseconds time) {
    if (time.count() <= 0) return;
    ring_[next_] = time;
    next_ = (next_ + 1) % kCapacity;
    size_ = std::min(size_ + 1, kCapacity);
  }
  void clear() { size_ = next_ = 0; }
  std::size_t count() const { return size_; }
  // 0 without any.
  Nanoseconds minimum() const { return smallest(0); }
  Nanoseconds median() const { return smallest((size_ - 1) / 2); }
  // Of times that have two kinds, in cold and in warm caches: of the faster kind, if that is a
  // third of them. 0 without any.
  Nanoseconds lower_quartile() const { return smallest((size_ - 1) / 4); }

 private:
  Nanoseconds smallest(std::size_t rank) const {
    if (size_ == 0) return Nanoseconds{0};
    std::array<Nanoseconds, kCapacity> sorted = ring_;
    sort_ascending(Span<Nanoseconds>(sorted.data(), size_));
    return sorted[rank];
  }

  std::array<Nanoseconds, kCapacity> ring_{};
  std::size_t size_ = 0;
  std::size_t next_ = 0;
};

}  // namespace idletune::detail
