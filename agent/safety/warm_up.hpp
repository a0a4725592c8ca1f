// The first launch of a variant, made where it disturbs nobody.
#pragma once

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "models/space/kernel_package.hpp"

namespace idletune {

// Many drivers generate code at a variant's first launch, which can take hundreds of milliseconds of
// CPU time. Launches `program` once on the smallest shape (every dimension 1) with buffers of its own,
// so that this happens now while the device is occupied for microseconds only. Success also where the
// kernel has no such shape (then nothing was launched). Errors: those of Device; timeout after
// `deadline`.
Status warm_up(Device& device, const KernelPackage& package, Program& program,
               const Configuration& configuration, Nanoseconds deadline);

}  // namespace idletune
