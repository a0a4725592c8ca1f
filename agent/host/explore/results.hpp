// What an exploration has found out, one value per configuration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>

namespace idletune::explore {

// One configuration's outcome. `number` is its place in the exploration's order.
struct ExploredConfiguration {
  std::uint64_t number = 0;
  Configuration configuration;
  TrialStatus status = TrialStatus::correct;
  std::string message;     // why not correct; empty otherwise
  Nanoseconds compile{0};  // wall time of compiling, with the first launch's code generation;
                           // 0: never compiled, or not known
  Nanoseconds check{0};    // wall time of checking: inputs written, one run, outputs compared
  Nanoseconds measure{0};  // wall time of the timed runs with what surrounds them
  Nanoseconds setup{0};    // device time of what it prepares once; 0: nothing
  double max_error = 0;    // largest |output - reference| / allowed over all checks
  std::vector<Nanoseconds> samples;  // device times in the order of the runs; empty unless correct
  std::int64_t unix_seconds = 0;     // when it ended
};

// The default configuration, timed now and then: how steady the device was.
struct ControlMeasurement {
  std::uint64_t after = 0;  // so many configurations were done
  std::vector<Nanoseconds> samples;
  std::int64_t unix_seconds = 0;
};

// The middle sample, the mean of the middle two for an even number; 0 for none.
double median_ns(const std::vector<Nanoseconds>& samples);
// 0 for none.
Nanoseconds fastest(const std::vector<Nanoseconds>& samples);

}  // namespace idletune::explore
