// What can be refused before the driver sees it.
#pragma once

#include <string>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/trial/quirks.hpp"
#include "agent/trial/step_programs.hpp"
#include "models/package/launch_plan.hpp"

namespace idletune::trial {

// Whether the package's source is in a language of the device's compiler. Error: unsupported, which
// names the kernel, its dialect and what was expected.
Status admit_dialect(const DeviceInfo& device, const KernelPackage& package);

// The launches of `configuration` at `shape`, if the dialect, the space, the device's limits and
// the quirk table admit it. Costs microseconds. Errors: invalid_argument or unsupported, with a
// message naming the limit; all of them mean TrialStatus::constraints. `ignore_device_limits` skips
// limits and quirks.
Result<LaunchPlan> admitted_plan(const DeviceInfo& device, const KernelPackage& package,
                                 const QuirkTable& quirks, const Shape& shape,
                                 const Configuration& configuration, bool ignore_device_limits);

// What only the compiled kernel functions know: their own work-group limits and local memory.
Status admit_programs(const DeviceInfo& device, const StepPrograms& programs,
                      const LaunchPlan& plan);

}  // namespace idletune::trial
