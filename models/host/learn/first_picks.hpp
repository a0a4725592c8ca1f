// Which configuration to begin with, on any device and shape, and on each that was measured. Host
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/configuration.hpp>

#include "models/host/learn/performance_table.hpp"

namespace idletune {

struct LearnedPick {
  std::int32_t source = -1;  // over all sources
  Shape shape;
  std::size_t configuration = 0;  // its number in the table
  double expected = 0;            // relative performance
};

// Over all devices, for any shape and for each shape that was measured; and each source's own best.
std::vector<LearnedPick> choose_first_picks(const PerformanceTable& table);

}  // namespace idletune
