// An exploration's results as a history. Host side.
#pragma once

#include <string>
#include <vector>

#include <idletune/result.hpp>

#include "agent/explore/exploration.hpp"
#include "agent/explore/sweep.hpp"
#include "models/history/history.hpp"

namespace idletune::explore {

// Rows in the order of the exploration. Of each: the median of its samples as run time, all
// samples, the compile time, the extras `verification_time`, `benchmark_time` (wall times),
// `setup_time` (where something is prepared once; not part of the run time), `max_error`, `time` (a
// failure's status and message) and `measured_at` (Unix seconds).
// `valid_count` is set unless every configuration of the space is there (where nobody can count the
// space, a bound, with a warning). Notes: `explore` (identity
// and settings), `default` (the default configuration and its times, in `control` one by one).
// Times in ns. Error: invalid_argument if there is no result.
Result<History> history_of(const KernelPackage& package, const DeviceInfo& device,
                           const Order& order, const Settings& settings, const Log& log);

// The results of a sweep as one history per problem, in the order of the problems; those of which
// nothing is known yet are left out. As above, but: of each row the smallest sample is the run time
// (where the row was timed again, of those later samples), the notes are short, and there is no
// default.
Result<std::vector<History>> histories_of(const KernelPackage& package, const DeviceInfo& device,
                                          const SweepSettings& settings, const Log& log);

// How far apart the control's medians lie: (largest - smallest) / median of them; 0 for fewer than
// two.
double control_spread(const std::vector<ControlMeasurement>& controls);

}  // namespace idletune::explore
