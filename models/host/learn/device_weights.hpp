// What each source of a performance table counts, so that devices weigh the same. Host side.
#pragma once

#include <cstddef>
#include <vector>

#include "models/host/learn/performance_table.hpp"

namespace idletune {

// Every device weighs the same, however many shapes it was measured at. One per source.
std::vector<double> device_weights(const PerformanceTable& table);

// Of the device with most sources. The table has a source.
std::size_t most_shapes_of_a_device(const PerformanceTable& table);

}  // namespace idletune
