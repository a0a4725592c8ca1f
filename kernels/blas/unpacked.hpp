// What the library carries compressed.
#pragma once

#include <cstdint>
#include <vector>

#include <idletune/span.hpp>

namespace idletune::gemm {

// What `idletune pack --compressed` was given to write, with `known` for what it was told of as
// --beside; empty where it cannot have written this.
std::vector<std::uint8_t> unpacked(Bytes compressed, Bytes known = {});

}  // namespace idletune::gemm
