// The table of `idletune fractions --table`: what tuning brings, kernel by kernel and device by
// device, beside published figures.
#pragma once

#include <string>
#include <vector>

#include "models/history/history.hpp"

namespace idletune::cli {

// As Markdown, a row per history in their order. Default, best and median are run times; the share
// "within" is that of the valid configurations with q >= threshold, "of n" where the history is a
// sample (then relative to the best one seen); "spread" is how far apart the timings of the default
// lay during the exploration: their middle half (where there are four) and all of them. The
// published shares are those of the benchmark that the kernel's name suggests. What a history does
// not say is "-".
std::string fractions_table(const std::vector<History>& histories, double threshold);

// The run time of the default configuration: what an exploration noted, else 0.
double default_time_ns(const History& history);

}  // namespace idletune::cli
