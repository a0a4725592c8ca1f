// An exploration's results as histories. Host side.
#pragma once

#include <vector>

#include <idletune/result.hpp>

#include "agent/host/explore/log.hpp"
#include "agent/host/explore/order.hpp"
#include "agent/host/explore/settings.hpp"
#include "models/host/history/history.hpp"

namespace idletune::explore {

// One history per problem, in their order; those of which nothing is known yet are left out. Rows
// in the order of the exploration. Of each: the median of its samples as run time (where it was
// timed again, of those later samples; of the lists of earlier versions the smallest), all samples,
// the compile time, the extras `verification_time`, `benchmark_time` (wall times), `setup_time`
// (where something is prepared once; not part of the run time), `max_error`, `time` (a failure's
// status and message) and `measured_at` (Unix seconds). `valid_count` is set unless every
// configuration of the space is there (where nobody can count the space, a bound, with a warning).
// Notes, in the first: `sweep` for a list; else `explore` (identity and settings) and `default`
// (the default configuration and its times, in `control` one by one). Times in ns. Error:
// invalid_argument if there is no result.
Result<std::vector<History>> histories_of(const KernelPackage& package, const DeviceInfo& device,
                                          const Order& order, const Settings& settings,
                                          const Log& log);

// How far apart the control's medians lie: (largest - smallest) / median of them; 0 for fewer than
// two.
double control_spread(const std::vector<ControlMeasurement>& controls);

}  // namespace idletune::explore
