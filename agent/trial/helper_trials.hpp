// Trials in a program of their own, `idletune-helper`: whatever a configuration does to its process
// or to the driver costs that program and never the application.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "agent/trial/quirks.hpp"
#include "agent/trial/trial.hpp"
#include "agent/trial/trial_executor.hpp"

namespace idletune {

struct HelperTrialsOptions {
  std::string program;  // as for helper_program(), like the next
  bool program_in_path = false;
  DeviceSource source;
  TrialExecutorOptions executor;
  QuirkTable quirks;
  // After each of these the helper is killed. What got less than half of it in processor time (a
  // busy application, and the helper has low priority) may take ten times as long.
  Nanoseconds start_deadline{std::chrono::seconds(20)};  // from start to "device is open"
  Nanoseconds compile_deadline{std::chrono::seconds(30)};
  // For the stages that run, on top of the deadlines of their runs: allocation, filling, copies and
  // comparison. Also the deadline of one run whose request has none.
  Nanoseconds stage_deadline{std::chrono::seconds(20)};
  // After this many starts in a row that came to nothing, start() fails for good.
  std::uint32_t max_start_failures = 3;
  bool inherit_output = false;  // helper's stdout and stderr: ours, or /dev/null
};

// The program is started by the first stage that needs it, and again after each death; a start is
// part of the stage that needs it (tens of milliseconds, mostly the driver's), and so is a run of
// the reference on a small problem, the first thing that a helper runs. Configurations beyond the
// device's limits, or in the quirk table, never reach it. After a stage that failed at run time it
// is started anew as well, because an error may have spoilt its context for good.
//
// start() and poll() only exchange notes with a thread that supervises the program.
class HelperTrials final : public TrialRunner {
 public:
  // `device`: what the helper is to open: the device of that platform, name and driver (and index,
  // among equals).
  HelperTrials(const DeviceInfo& device, const std::shared_ptr<const KernelPackage>& package,
               const HelperTrialsOptions& options = {});
  ~HelperTrials() override;  // ends a running stage; kills and reaps the helper

  // Errors: busy; not_found (no such program) or device_error (starts keep failing, the message
  // says why). A start that fails later is an outcome: `runtime` of the stage `prepare`.
  Status start(const TrialRequest& request) override;
  bool poll(Nanoseconds wait, TrialOutcome& outcome) override;
  void reap() override;
  bool isolated() const override { return true; }
  bool poisoned() const override { return false; }

 private:
  class State;
  std::unique_ptr<State> state_;
};

// The program that `option` names; empty: find_helper(), in PATH as well if `in_path` says so.
// Error: not_found, with the places that were looked at and how to name another.
Result<std::string> helper_program(const std::string& option, bool in_path);

// The helper's path: beside the running executable, then in the program folder of the installation,
// then in the folders of `search_path` (PATH's form). Error: not_found naming the places.
Result<std::string> find_helper(const std::string& search_path);

}  // namespace idletune
