// A stored history as the table that a replayed device plays back. Host side.
#pragma once

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/lab/measurement_table.hpp"
#include "models/history/history.hpp"

namespace idletune {

// Samples are the recorded single runs, or the row's run time where there are none; rows without a
// compile time get the median of those that have one, or 0. The device is called as in the history,
// with backend "replay". Errors: those of MemoryTable::add.
Result<replay::MemoryTable> table_of(const History& history);

}  // namespace idletune
