// How a model learned without a device does on that device. Host side.
#pragma once

#include <vector>

#include "models/host/learn/learn.hpp"
#include "models/host/learn/performance_table.hpp"

namespace idletune {

// One result per source whose device can be left out: at least one other device remains.
std::vector<HeldOutResult> cross_validate(const PerformanceTable& table);

}  // namespace idletune
