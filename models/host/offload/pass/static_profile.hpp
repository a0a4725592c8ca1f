// The profile of regions that are not run.
#pragma once

#include <string>
#include <vector>

#include "models/host/offload/pass/prepare.hpp"

namespace idletune::offload {

struct StaticJob {
  std::vector<std::string> values;  // "n=4096": of parameters and of global variables
  std::string result;               // the file that is written
  double limit_s = 0;               // for all of it
};

// Writes what the runtime would write of a run, and for each region what the code does not say,
// with what the profile could be as well. Answers what is wrong in one line, or nothing.
std::string profile_code(const std::vector<FoundRegion>& regions, const StaticJob& job);

}  // namespace idletune::offload
