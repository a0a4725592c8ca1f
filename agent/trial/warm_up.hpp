// The first launch of a variant, made where it disturbs nobody.
#pragma once

#include <cstdint>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/trial/step_programs.hpp"
#include "models/package/launch_plan.hpp"

namespace idletune {

// A small problem like `shape` that the kernel can be launched with: every dimension the same power
// of two, or that of `shape` where this is less; the smallest that meets the kernel's constraints,
// in the end `shape` itself. Null `configuration`: for the reference.
Shape small_shape(const KernelPackage& package, const Shape& shape,
                  const Configuration* configuration);

// Of buffers for a small shape; one that needs more is not small.
constexpr std::uint64_t kSmallScratchBytes = std::uint64_t{32} << 20;

// Many drivers generate code at a variant's first launch, which can take hundreds of milliseconds
// of CPU time. Runs setup and steps of a variant once on `shape` with buffers of its own, so that
// this happens now: on a small shape while the device is occupied for microseconds only; on the
// shape to come, so that nothing is left to be done at its first launch (some drivers generate
// other code for large problems). `plan` is its plan at that shape. Where it failed, or where the
// buffers take more than `scratch_limit_bytes`: success, and nothing is launched. Errors: those of
// Device, out_of_memory where nothing was run; timeout after `deadline` (then the buffers are given
// up, since the run may use them).
// `occupied`, if given, grows by how long the device was at it.
Status warm_up(Device& device, const KernelPackage& package, const trial::StepPrograms& programs,
               const Shape& shape, const Result<LaunchPlan>& plan,
               const Configuration& configuration, Nanoseconds deadline,
               std::uint64_t scratch_limit_bytes = kSmallScratchBytes,
               Nanoseconds* occupied = nullptr);

}  // namespace idletune
