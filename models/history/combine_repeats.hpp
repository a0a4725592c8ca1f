// Several measurements of the same thing made into one. Host side.
#pragma once

#include <vector>

#include "models/history/history.hpp"

namespace idletune {

// One history of several of the same kernel, device and shape: parameters in the first one's order
// and as codes (CellColumn::code); a configuration is correct if at least half of its rows are,
// with the median of their times; otherwise it has the status of its first failed row. It counts as
// drawn if one of its rows was. Samples, other extras and notes are left out. At least one history;
// all must have the first one's parameter names.
History combine_repeats(const std::vector<const History*>& repeats);

}  // namespace idletune
