#include "agent/belief/uniform_draws.hpp"

#include <algorithm>

#include "models/core/random.hpp"

namespace idletune {

void UniformDraws::add(Nanoseconds time) {
  if (time.count() <= 0) {
    add_failure();
    return;
  }
  if (correct_ == 0 || time < best_) best_ = time;
  ++correct_;
  if (size_ < kCapacity) {
    insert(time);
    return;
  }
  // Algorithm R: the new element takes a random one's place with probability capacity / count.
  Random random(random_state_);
  const std::uint64_t slot = random.below(correct_);
  random_state_ = random.next();
  if (slot >= kCapacity) return;
  const auto victim = times_.begin() + static_cast<std::ptrdiff_t>(slot);
  std::move(victim + 1, times_.end(), victim);
  --size_;
  insert(time);
}

void UniformDraws::insert(Nanoseconds time) {
  const auto end = times_.begin() + static_cast<std::ptrdiff_t>(size_);
  const auto place = std::upper_bound(times_.begin(), end, time);
  std::move_backward(place, end, end + 1);
  *place = time;
  ++size_;
}

}  // namespace idletune
