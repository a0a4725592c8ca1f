// How much a kernel has to do at a shape, whatever its configuration.
#pragma once

#include <cstdint>
#include <string_view>

#include <idletune/configuration.hpp>

#include "models/package/kernel_package.hpp"

namespace idletune::bench {

// Floating-point operations that the kernel's formula asks for: additions, multiplications,
// divisions and roots count one each, a fused multiply-add two. What an implementation computes
// again (overlapping tiles) or besides (the reference's compensated sums) does not count. 0 where
// there are none; negative for a kernel that is not in the table.
double operations(std::string_view kernel, const Shape& shape);

// Bytes that have to cross the memory's interface at least: every input buffer once, every output
// once, what is both twice. Throws std::runtime_error if the package cannot say.
double compulsory_bytes(const KernelPackage& package, const Shape& shape,
                        const Configuration& configuration);

// The bytes of all buffers: what a cache has to hold for the kernel to run from it.
double footprint_bytes(const KernelPackage& package, const Shape& shape,
                       const Configuration& configuration);

}  // namespace idletune::bench
