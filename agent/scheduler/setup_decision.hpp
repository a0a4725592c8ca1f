// Does it pay to prepare something once? The cost of a variant's setup against the launches that
// would use it.
#pragma once

#include <cstdint>

#include <idletune/device.hpp>

namespace idletune {

struct SetupPrice {
  Nanoseconds setup{0};
  Nanoseconds without{0};  // of a launch of what runs in its place; 0: unknown
  Nanoseconds with{0};     // of a launch after it
};

struct SetupSituation {
  double launches = 0;       // still to come, of the problem for which it is made
  bool said = false;         // by the application; else estimated
  Nanoseconds allowance{0};  // the ledger's
  // It was made before, of what is there no longer; how many launches in a row have missed it.
  bool again = false;
  std::uint32_t missed = 0;
};

// From how many launches on it pays; infinity: never.
double break_even_launches(const SetupPrice& price);

// Whether it is to be made now. It has to gain more than it costs over the launches still to come,
// with a reserve for what measurements are off by. Where these are an estimate, the ledger must
// have its cost; where the application said them, its word counts: then the total over them is less
// than without a setup. One that is made again waits besides until as many launches as it takes to
// pay have missed it, so that contents which come in turns do not cost a setup each.
bool setup_pays(const SetupPrice& price, const SetupSituation& situation);

}  // namespace idletune
