// Compiles a program so that its regions are profiled, runs it, and reads what it found.
#pragma once

#include "agent/host/report/common.hpp"
#include "models/host/offload/profile.hpp"

namespace idletune::cli {

struct ProfilingJob {
  std::string source;                  // one C or C++ file
  std::vector<std::string> functions;  // regions, besides those that are marked
  std::vector<std::string> options;    // for compiler and linker
  std::vector<std::string> arguments;  // of the program
  bool from_code = false;              // walk through the code instead of running it,
  std::vector<std::string> values;     // with NAME=NUMBER of parameters and global variables
  bool full = false;                   // trace everything, not bursts
  bool time = true;                    // compile and run it once more, to see how long it takes
  bool quiet = false;                  // the program's own answers go to standard error
  double limit_s = 300;                // of each of the two runs
};

// Errors: not_found (no such source, no profiler, no compiler, a region that was never entered or
// that is not in the source), compile_error (one line of the compiler's), unsupported (a region
// that cannot be followed), invalid_argument (too small a region), timeout (a run that could not
// even be stopped), device_error (the program failed), io_error.
Result<offload::Profile> profile_program(const ProfilingJob& job);

}  // namespace idletune::cli
