// How much a kernel has to do at a shape, whatever its configuration. Host side.
#pragma once

#include <optional>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>

#include "models/package/kernel_package.hpp"

namespace idletune {

struct KernelWork {
  // Floating-point operations that the kernel's formula asks for, as its description says (<work>);
  // nothing if it says none.
  std::optional<double> operations;
  // Bytes that have to cross the memory's interface at least: every input buffer once, every output
  // once, what is both twice.
  double compulsory_bytes = 0;
  // Of all buffers: what a cache has to hold for the kernel to run from it.
  double footprint_bytes = 0;
};

// Buffers may be larger in some configurations, to have room for whole tiles: those of
// `configuration` count. Errors: invalid_argument for another number of dimensions, or sizes
// without a value.
Result<KernelWork> work_of(const KernelPackage& package, const Shape& shape,
                           const Configuration& configuration);

// The stored expression, over the package's dimensions; nothing if there is none.
std::optional<Expression> operations_of(const KernelPackage& package);

}  // namespace idletune
