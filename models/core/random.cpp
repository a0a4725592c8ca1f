#include "models/core/random.hpp"

namespace idletune {

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

std::uint64_t Random::below(std::uint64_t bound) {
  const std::uint64_t threshold = (0 - bound) % bound;  // 2^64 mod bound
  for (;;) {
    const std::uint64_t r = next();
    if (r >= threshold) return r % bound;
  }
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

Permutation::Permutation(std::uint64_t size, std::uint64_t seed) : size_(size), half_bits_(1) {
  while (half_bits_ < 32 && (std::uint64_t{1} << (2 * half_bits_)) < size) ++half_bits_;
  half_mask_ = (std::uint64_t{1} << half_bits_) - 1;
  Random random(seed);
  for (std::uint64_t& key : keys_) key = random.next();
}

std::uint64_t Permutation::operator()(std::uint64_t position) const {
  std::uint64_t x = position;
  do {
    std::uint64_t left = x >> half_bits_;
    std::uint64_t right = x & half_mask_;
    for (std::uint64_t key : keys_) {
      const std::uint64_t mixed = left ^ (Random(right ^ key).next() & half_mask_);
      left = right;
      right = mixed;
    }
    x = (left << half_bits_) | right;
  } while (x >= size_);
  return x;
}

}  // namespace idletune
