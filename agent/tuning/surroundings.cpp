#include "agent/tuning/surroundings.hpp"

#include <memory>
#include <string>
#include <utility>

#include "agent/trial/helper_trials.hpp"
#include "agent/trial/trials_in_process.hpp"
#include "models/core/shared.hpp"
#include "platform/os/boot.hpp"

namespace idletune::detail {
namespace {

QuirkTable quirks_of(const AgentOptions& options) {
  QuirkTable quirks;
  if (options.quirks.empty()) return quirks;
  const Status added = quirks.add_file(options.quirks);
  if (!added.ok() && options.log != nullptr && options.log_level >= 1) {
    options.log(options.log_user, 1, added.message().c_str());
  }
  return quirks;
}

// What the functions below hold is shared by their copies: copying it would be code of some KiB.

TrialRunnerFactory trials_in_helpers(HelperTrialsOptions options) {
  return [helper = new_shared<const HelperTrialsOptions>(std::move(options))](
             Device& device, const std::shared_ptr<const KernelPackage>& package)
             -> Result<std::unique_ptr<TrialRunner>> {
    return std::unique_ptr<TrialRunner>(
        std::make_unique<HelperTrials>(device.info(), package, *helper));
  };
}

TrialRunnerFactory trials_in_this_process(const TrialsInProcess& trials,
                                          const TrialExecutorOptions& options, QuirkTable table) {
  return [&trials, options, quirks = new_shared<const QuirkTable>(std::move(table))](
             Device& device, const std::shared_ptr<const KernelPackage>& package) {
    return trials.make(device, package, options, *quirks);
  };
}

// Sensors are looked for when they are read first: that takes some milliseconds.
BoardReader sensors_below(const std::string& sysfs_root) {
  return [sysfs_root, board = std::shared_ptr<Board>()]() mutable {
    if (!board) board = new_shared<Board>(Board::open(sysfs_root));
    return board->read();
  };
}

}  // namespace

bool read_state_file(const Surroundings& surroundings, const std::string& path, MutableBytes out) {
  PlayedSurroundings* const played = surroundings.played;
  return played != nullptr ? played->read_beginning(path, out) : read_beginning(path, out);
}

Status write_state_file(const Surroundings& surroundings, const std::string& path, Bytes data,
                        FileSync sync) {
  if (surroundings.played != nullptr) return surroundings.played->write(path, data, sync);
  return write_file_atomically(path, data, sync, FileReaders::owner);
}

std::string program_folder(const AgentOptions& options) { return options.state + "/programs"; }

Surroundings real_surroundings(const AgentOptions& options) {
  Surroundings real;
  real.read_board = sensors_below(options.sysfs_root);
  if (options.seed == 0) real.board = board_identity();
  real.quirks = new_shared<const QuirkTable>(quirks_of(options));
  TrialExecutorOptions executor;
  executor.scratch_limit_bytes = options.scratch_limit_bytes;
  if (options.in_process != nullptr) {
    real.make_trial_runner = trials_in_this_process(*options.in_process, executor, *real.quirks);
    return real;
  }
  HelperTrialsOptions helper;
  helper.program = options.helper;
  helper.program_in_path = options.helper_in_path;
  if (options.mode == Mode::tune) {
    real.trials = helper_program(options.helper, options.helper_in_path).status();
  }
  helper.opencl_library = environment_opencl_library();
  helper.cuda_library = environment_cuda_library();
  helper.nvrtc_library = environment_nvrtc_library();
  if (!options.state.empty()) helper.program_cache = program_folder(options);
  helper.executor = executor;
  helper.quirks = *real.quirks;
  real.make_trial_runner = trials_in_helpers(std::move(helper));
  return real;
}

}  // namespace idletune::detail
