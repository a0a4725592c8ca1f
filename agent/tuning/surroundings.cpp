#include "agent/tuning/surroundings.hpp"

#include <memory>
#include <string>

#include "agent/trial/helper_trials.hpp"
#include "agent/trial/trials_in_process.hpp"
#include "agent/tuning/engine_core.hpp"
#include "models/core/shared.hpp"
#include "platform/os/boot.hpp"

namespace idletune::detail {
namespace {

std::shared_ptr<const QuirkTable> quirks_of(const AgentOptions& options) {
  const auto quirks = new_shared<QuirkTable>();
  if (options.quirks.empty()) return quirks;
  const Status added = quirks->add_file(options.quirks);
  if (!added.ok()) tell(options, 1, "%", added.message());
  return quirks;
}

// What the functions below hold is shared by their copies: copying it would be code of some KiB.

TrialRunnerFactory trials_in_helpers(const AgentOptions& options,
                                     const TrialExecutorOptions& executor,
                                     const QuirkTable& quirks) {
  const auto helper = new_shared<HelperTrialsOptions>();
  helper->program = options.helper;
  helper->program_in_path = options.helper_in_path;
  helper->executor = executor;
  helper->quirks = quirks;
  return [helper](Device& device, const std::shared_ptr<const KernelPackage>& package)
             -> Result<std::unique_ptr<TrialRunner>> {
    HelperTrialsOptions own = *helper;
    own.source = device.source();
    return std::unique_ptr<TrialRunner>(new HelperTrials(device.info(), package, own));
  };
}

TrialRunnerFactory trials_in_this_process(const TrialsInProcess& trials,
                                          const TrialExecutorOptions& options,
                                          const std::shared_ptr<const QuirkTable>& quirks) {
  return [&trials, options, quirks](Device& device,
                                    const std::shared_ptr<const KernelPackage>& package) {
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

void find_surroundings(const AgentOptions& options, Surroundings& real) {
  real.read_board = sensors_below(options.sysfs_root);
  if (options.seed == 0) real.board = board_identity();
  real.quirks = quirks_of(options);
  TrialExecutorOptions executor;
  executor.scratch_limit_bytes = options.scratch_limit_bytes;
  if (options.in_process != nullptr) {
    real.make_trial_runner = trials_in_this_process(*options.in_process, executor, real.quirks);
    return;
  }
  if (options.mode == Mode::tune) {
    real.trials = helper_program(options.helper, options.helper_in_path).status();
  }
  real.make_trial_runner = trials_in_helpers(options, executor, *real.quirks);
}

}  // namespace idletune::detail
