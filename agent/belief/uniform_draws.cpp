#include "agent/belief/uniform_draws.hpp"

#include <algorithm>

#include "models/core/random.hpp"

namespace idletune {

void UniformDraws::add(Nanoseconds time) {
  if (time.count() <= 0) {
    add_failure();
    return;
  }
  note_if_fast(time);
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

void UniformDraws::note_if_fast(Nanoseconds time) {
  const std::size_t kept = std::min<std::size_t>(correct_, kFastest);
  const auto end = fastest_.begin() + static_cast<std::ptrdiff_t>(kept);
  const auto place = std::upper_bound(fastest_.begin(), end, time);
  if (place == fastest_.end()) return;
  std::move_backward(place, kept < kFastest ? end : end - 1, kept < kFastest ? end + 1 : end);
  *place = time;
}

double UniformDraws::count_below(double time_ns) const {
  const auto below = [time_ns](Nanoseconds time) {
    return static_cast<double>(time.count()) < time_ns;
  };
  const std::size_t kept = std::min<std::size_t>(correct_, kFastest);
  std::size_t count = 0;
  while (count < kept && below(fastest_[count])) ++count;
  if (count < kFastest) return static_cast<double>(count);
  std::size_t sampled = 0;
  while (sampled < size_ && below(times_[sampled])) ++sampled;
  const double estimate = static_cast<double>(sampled) * correct_ / static_cast<double>(size_);
  return std::max(estimate, static_cast<double>(kFastest));
}

void UniformDraws::insert(Nanoseconds time) {
  const auto end = times_.begin() + static_cast<std::ptrdiff_t>(size_);
  const auto place = std::upper_bound(times_.begin(), end, time);
  std::move_backward(place, end, end + 1);
  *place = time;
  ++size_;
}

}  // namespace idletune
