// Host side: the bytes of a kernel package. models/space/package_reader.cpp is its counterpart.
#pragma once

#include <cstdint>
#include <vector>

#include "models/package/package_contents.hpp"

namespace idletune::space {

// Serialises everything but `contents.bytes` and the digests, which follow from the rest. The same
// contents give the same bytes.
std::vector<std::uint8_t> write_package(const PackageContents& contents);

}  // namespace idletune::space
