// Draws that depend on nothing but what they are drawn for.
#pragma once

#include <cstdint>

namespace idletune::lives {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0,
                         std::uint64_t d = 0) {
  std::uint64_t h = 0x9e3779b97f4a7c15ull;
  for (const std::uint64_t v : {a, b, c, d}) {
    h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    h ^= h >> 31;
  }
  return h;
}

// In [0, 1).
inline double unit(std::uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

}  // namespace idletune::lives
