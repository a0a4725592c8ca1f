// Packages that programs carry inside them. Host side.
#pragma once

#include <cstdint>
#include <vector>

#include <idletune/span.hpp>

namespace idletune {

// The length of `bytes` (32 bits, little-endian), then them as one block of LZ4.
std::vector<std::uint8_t> compressed(Bytes bytes);

}  // namespace idletune
