// The compiled kernel functions of a variant, and runs of all its steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "models/package/launch_plan.hpp"

namespace idletune::trial {

// One kernel function per step of a package, those of its setup behind the others, at the step's
// index; of a reference of its own, one.
using StepPrograms = std::vector<std::unique_ptr<Program>>;

// Compiles an entry of the package's source for `configuration`, or takes its prebuilt binary.
// `lanes`: as many threads may launch it at once. `keep`: in the program cache. Errors: those of
// Device::compile.
Result<std::unique_ptr<Program>> compile_entry(Device& device, const KernelPackage& package,
                                               std::string_view entry,
                                               const Configuration& configuration,
                                               std::uint32_t lanes = 1, bool keep = true);

// All steps of `configuration`: one compilation, whichever of them a shape needs.
Result<StepPrograms> compile_steps(Device& device, const KernelPackage& package,
                                   const Configuration& configuration, std::uint32_t lanes = 1,
                                   bool keep = true);
// What computes the truth: the reference's own kernel function, or the steps of its configuration.
Result<StepPrograms> compile_reference(Device& device, const KernelPackage& package);

// The arguments that a step takes, of all those of the package. `out` has room for kMaxArguments.
Span<const Argument> arguments_of_step(const StepSpec& step, const Argument* all, Argument* out);

// Runs steps of a plan one after another on the tuner's queue; `arguments` are all those of the
// package. Times are sums over the steps; the device's is 0 where one of them has none. Errors:
// those of Device::run, after which the remaining steps are not run.
Result<RunTimes> run_steps(Device& device, const StepPrograms& programs,
                           Span<const PlannedStep> steps, Span<const Argument> arguments,
                           Nanoseconds deadline);

}  // namespace idletune::trial
