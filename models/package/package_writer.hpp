// The bytes of a kernel package. models/package/package_reader.cpp is its counterpart.
#pragma once

#include <cstdint>
#include <vector>

#include "models/package/package_contents.hpp"

namespace idletune::package {

// Serialises everything but `contents.bytes` and the digests, which follow from the rest. The same
// contents give the same bytes.
// `operations` is what no board reads: see models/host/pack/work.hpp; the constant 0: not known.
std::vector<std::uint8_t> write_package(const PackageContents& contents,
                                        const Expression& operations = Expression());

}  // namespace idletune::package
