// Several measurements of the same thing made into one. Host side.
#pragma once

#include <string>
#include <vector>

#include "models/host/history/history.hpp"

namespace idletune {

// One history of several of the same kernel, device and shape: parameters in the first one's order
// and as its first row has them; a configuration is correct if at least half of its rows are,
// with the median of their times; otherwise it has the first status, in TrialStatus's order, of its
// failed rows, `constraints` only if all of them have that. It counts as
// drawn if one of its rows was. Samples, other extras and notes are left out. At least one history;
// all must have the first one's parameter names.
History combine_repeats(const std::vector<const History*>& repeats);
// With the parameters in that order.
History combine_repeats(const std::vector<const History*>& repeats,
                        const std::vector<std::string>& names);

}  // namespace idletune
