// What `explore` has in common for one problem and for a list of them, and the latter.
#pragma once

#include "agent/cli/context.hpp"
#include "agent/cli/open_device.hpp"
#include "agent/explore/exploration.hpp"
#include "agent/trial/helper_trials.hpp"

namespace idletune::cli {

struct ExploreArguments {
  std::string kernel;
  std::vector<std::string> shapes;
  std::vector<std::string> captured;  // files, each of a further problem
  std::vector<std::string> problems;  // sparse matrices
  std::string shape_list;             // a file, or a name
  std::vector<std::string> fixed;
  std::vector<std::string> parts;
  std::string covering;  // a history
  bool slow_too = false;
  double largest = 0;  // product of dimensions; 0: any
  std::string output;
  std::string state;
  std::string quirks;
  std::string live;
  DeviceChoice device;
  std::optional<std::uint64_t> samples;
  std::optional<double> seconds;
  double run_ms = 2000;
  double measure_ms = 100;
  double control_seconds = 30;
  std::uint64_t scratch_mib = 256;
  bool run_ms_given = false;
  bool measure_ms_given = false;
  bool repeats_given = false;
  explore::Settings settings;
};

// False: it failed, which is said.
bool well_begun(const std::function<void()>& run, CliContext& context);

// Failures: those of the environment and of the file of quirks.
HelperTrialsOptions helper_options(const ExploreArguments& arguments);

// --shapes and what goes with it.
void add_shape_list_options(Verb verb, ExploreArguments& arguments);
// idletune explore K --shapes LIST.
void explore_shape_list(const ExploreArguments& arguments, CliContext& context);

}  // namespace idletune::cli
