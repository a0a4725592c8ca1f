// Writing histories in the formats of the autotuning community. Host side.
#pragma once

#include <string>

#include <idletune/result.hpp>

#include "models/host/history/history.hpp"

namespace idletune {

// The text of a T4 results file (schema 1.0.0). Importing it gives the same history; what cannot be
// kept is listed in models/host/history/README.md. Error: invalid_argument if the history is not
// consistent (a configuration measured twice, a correct row without a time).
Result<std::string> export_t4(const History& history);

// The text of a Kernel Tuner cache. Its times are milliseconds: a history in another unit comes
// back as `in_unit(history, 1e6)`. Errors: as above; unsupported if two configurations have the
// same key (values that differ in their kind only, or texts with commas).
Result<std::string> export_kernel_tuner(const History& history);

// The same history with its times in another unit, rounded to the nearest double: run, compile and
// single times, and the extras that are times in all histories (time, framework_time,
// strategy_time, verification_time, benchmark_time, data_movement_time); the extra "time.unit"
// names the new unit. Other extras stay as the source had them.
History in_unit(const History& history, double nanoseconds_per_unit);

}  // namespace idletune
