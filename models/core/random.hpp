// Small seeded generators with the same stream on every architecture.
#pragma once

#include <cstdint>

namespace idletune {

// SplitMix64 (Steele et al. 2014): 8 bytes of state, passes BigCrush; for sampling, not
// secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  // Uniform in [0, bound), unbiased (rejection). `bound` must not be 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1), 53 bits.
  double uniform();

 private:
  std::uint64_t state_;
};

// A pseudo-random permutation of [0, size) that needs no memory: a 6-round Feistel network over the
// next even power of two with cycle walking (Black & Rogaway 2002). Lets a searcher draw without
// repetition from millions of configurations and continue after a restart from (seed, position).
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t seed);
  std::uint64_t size() const { return size_; }
  // The element at `position` (< size). A bijection of [0, size).
  std::uint64_t operator()(std::uint64_t position) const;

 private:
  std::uint64_t size_;
  std::uint64_t half_mask_;
  unsigned half_bits_;
  std::uint64_t keys_[6];
};

}  // namespace idletune
