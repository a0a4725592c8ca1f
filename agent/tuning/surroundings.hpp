// What the tuner finds around it: a clock, somebody who runs trials, somebody who builds, a board.
// Tests bring their own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <idletune/device.hpp>
#include <idletune/options.hpp>
#include <idletune/result.hpp>

#include "agent/trial/trial.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/board/board.hpp"
#include "platform/os/clock.hpp"

namespace idletune::detail {

// A new runner of trials of one kernel. The device outlives it. Errors: why there can be none.
using TrialRunnerFactory = std::function<Result<std::unique_ptr<TrialRunner>>(
    Device& device, const std::shared_ptr<const KernelPackage>& package)>;

// The board's sensors, read now. One thread.
using BoardReader = std::function<BoardState()>;

// Where accepted configurations are built for launches.
enum class BuildThread : std::uint8_t {
  worker = 0,  // a low-priority thread of ours; a build may outlive the gap
  caller = 1   // whoever tunes: it has ended before anything else happens
};

// Where compiled programs are kept, the helper's and the application's.
std::string program_folder(const AgentOptions& options);

// A plain value.
struct Surroundings {
  const MonotonicClock* clock = &real_clock();  // not owned
  TrialRunnerFactory make_trial_runner;
  Status trials{};  // ok, or why no runner will ever run a trial
  BuildThread builds = BuildThread::worker;
  BoardReader read_board;
  std::uint64_t board = 0;  // board_identity(); kept nowhere
};

// The real ones, as the options say. A quirk file that cannot be used is logged and left out.
// Looks for the helper where it would be needed.
Surroundings real_surroundings(const AgentOptions& options);

}  // namespace idletune::detail
