// What the tuner finds around it: a clock, somebody who runs trials, somebody who builds, a board.
// Tests bring their own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <idletune/device.hpp>
#include <idletune/options.hpp>
#include <idletune/result.hpp>

#include "agent/launch/launch_trace.hpp"
#include "agent/trial/quirks.hpp"
#include "agent/trial/trial.hpp"
#include "models/package/package_specs.hpp"
#include "platform/board/board.hpp"
#include "platform/os/clock.hpp"
#include "platform/os/storage.hpp"

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

// Does a Worker's jobs where time is played: one at a time, each when its clock says so.
class PlayedJobs {
 public:
  virtual ~PlayedJobs() = default;
  virtual void start(std::function<void()> job) = 0;
  // Waits at most `timeout` of played time; true when the job has ended.
  virtual bool wait(Nanoseconds timeout) = 0;
};

// What a test plays instead of thread, folder and memory.
class PlayedSurroundings {
 public:
  virtual ~PlayedSurroundings() = default;
  virtual std::unique_ptr<PlayedJobs> jobs() = 0;  // instead of the worker's thread
  virtual std::unique_ptr<Storage> storage() = 0;  // of the journal, not in the state folder
  virtual LaunchTrace::Page* trace() = 0;          // beside that storage; null: there is none
  // As read_state_file() and write_state_file().
  virtual bool read_beginning(const std::string& path, MutableBytes out) = 0;
  virtual Status write(const std::string& path, Bytes data, FileSync sync) = 0;
};

// A plain value.
struct Surroundings {
  const MonotonicClock* clock = &real_clock();  // not owned
  TrialRunnerFactory make_trial_runner;
  Status trials{};  // ok, or why no runner will ever run a trial
  BuildThread builds = BuildThread::worker;
  PlayedSurroundings* played = nullptr;  // not owned; null: nothing is played
  LaunchTrace* trace = nullptr;          // of launches and stages; null: nobody traces
  std::optional<std::uint64_t> boot;     // boot_identity()
  BoardReader read_board;
  std::shared_ptr<const QuirkTable> quirks{};  // null: none
  std::uint64_t board = 0;                     // board_identity(); kept nowhere
};

// Files of the state folder beside the journal: as read_beginning(), and as write_file_atomically()
// for its owner alone.
bool read_state_file(const Surroundings& surroundings, const std::string& path, MutableBytes out);
Status write_state_file(const Surroundings& surroundings, const std::string& path, Bytes data,
                        FileSync sync);

// The real ones, as the options say. A quirk file that cannot be used is logged and left out.
// Looks for the helper where it would be needed.
void find_surroundings(const AgentOptions& options, Surroundings& real);

}  // namespace idletune::detail
