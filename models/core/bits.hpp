// The bits of a number, as files and digests take them.
#pragma once

#include <cstdint>
#include <cstring>

namespace idletune {

inline std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace idletune
