// What `explore` has in common for one problem and for a list of them.
#pragma once

#include "agent/host/cli/context.hpp"
#include "agent/host/cli/open_device.hpp"
#include "agent/host/explore/exploration.hpp"
#include "models/host/history/history.hpp"

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
  std::uint64_t scratch_mib = 256;
  std::uint64_t seed = 1;
  // If not given, what suits one problem or a list.
  std::optional<std::uint64_t> repeats;
  std::optional<std::uint64_t> checks;
  std::optional<double> measure_ms;
  std::optional<double> run_ms;
  std::optional<double> control_seconds;
};

// False: it failed, which is said.
bool well_begun(const std::function<void()>& run, CliContext& context);

// One exploration of the command, with its progress beside its output.
class ExplorationTask {
 protected:
  using Progress = explore::Exploration::Progress;
  ExplorationTask(const ExploreArguments& arguments, CliContext& context)
      : arguments_(arguments), context_(context) {}

  // Failures of all: Failure, which is said, or is an empty one if it has been.
  void open_kernel();
  void ask_device();
  // `settings` as the arguments want them, before the order and the progress are opened.
  void settle(explore::Settings settings);
  // Where the arguments name no output, `text` is part of its name; empty: several problems share
  // it.
  void name_output(const std::string& text);
  void open_progress(const std::string& folder);
  // Measures what is left, if anything is, until `is_over` says so. `note`: of the line that tells
  // how far it is.
  Status measure(const std::string& what, const std::function<std::string(const Progress&)>& note,
                 const std::function<bool(const Progress&)>& is_over);
  std::vector<History> histories() const;
  void write(const std::vector<History>& histories);
  std::uint64_t remaining() const { return far_.total - far_.done; }

  const ExploreArguments& arguments_;
  CliContext& context_;
  explore::Settings settings_;
  std::shared_ptr<const KernelPackage> package_;
  DeviceInfo device_;
  DeviceSource source_;
  std::unique_ptr<explore::Order> order_;
  std::unique_ptr<explore::Log> log_;
  std::string output_;
  Progress far_;
  std::uint64_t measured_now_ = 0;
  bool complete_ = false;
};

// --shapes and what goes with it.
void add_shape_list_options(Verb verb, ExploreArguments& arguments);
// idletune explore K --shapes LIST.
void explore_shape_list(const ExploreArguments& arguments, CliContext& context);

}  // namespace idletune::cli
