#include "agent/belief/uniform_draws.hpp"

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
  erase(static_cast<std::size_t>(slot));
  insert(time);
}

void UniformDraws::take_back(Nanoseconds time) {
  if (size_ == 0) return;
  --correct_;
  ++failed_;
  std::size_t place = 0;
  // Scaled by the clock it may have been rounded.
  while (place + 1 < size_ && times_[place] < time - time / 1024) ++place;
  erase(place);
  best_ = size_ > 0 ? times_[0] : Nanoseconds{0};
}

void UniformDraws::erase(std::size_t place) {
  for (--size_; place < size_; ++place) times_[place] = times_[place + 1];
}

void UniformDraws::insert(Nanoseconds time) {
  std::size_t place = size_++;
  for (; place > 0 && times_[place - 1] > time; --place) times_[place] = times_[place - 1];
  times_[place] = time;
}

}  // namespace idletune
