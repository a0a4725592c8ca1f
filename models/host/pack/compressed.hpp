// Packages that programs carry inside them. Host side.
#pragma once

#include <cstdint>
#include <vector>

#include <idletune/span.hpp>

namespace idletune {

// The length of `bytes` (32 bits, little-endian), then them as one block of LZ4. Where whoever
// undoes it has `known` already, as the same program carries both, what that has is not written
// again: offsets reach back into it then, in 24 bits.
std::vector<std::uint8_t> compressed(Bytes bytes, Bytes known = {});

}  // namespace idletune
