// A model with another tree for this device.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "agent/retraining/measured_rows.hpp"
#include "agent/tuning/kernel_model.hpp"
#include "models/package/package_specs.hpp"

namespace idletune::detail {

// What `old` knows of its one kernel, with a tree for the device in place of those it had for it.
// Null: `old` does not own its model, or what came of it cannot be read.
std::shared_ptr<const KernelModel> with_tree(const KernelModel& old, const KernelPackage& package,
                                             std::string_view device,
                                             const MeasuredLesson& measured,
                                             const selector::Grown& grown);

}  // namespace idletune::detail
