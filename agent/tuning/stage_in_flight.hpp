// A stage that was handed to the trial runner and has not ended yet.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <idletune/device.hpp>

#include "agent/launch/launch_trace.hpp"
#include "agent/trial/trial.hpp"
#include "agent/tuning/tuning_task.hpp"

namespace idletune::detail {

// What the time given to the engine is worth.
enum class TimeSource : std::uint8_t {
  idle,        // the application's idle time: decision and ledger apply
  foreground,  // the user asked for tuning here and now: neither applies
  start_up     // prepare(): the first pick only, not charged
};

// One thread at a time, the engine's. The kernels are the engine's, those loaded later included.
class StageInFlight {
 public:
  using Kernels = std::vector<std::unique_ptr<KernelTask>>;
  StageInFlight(ShapeTask& task, const TrialRequest& request, TimeSource source, Nanoseconds now,
                const Kernels& kernels);

  ShapeTask& task() const { return *task_; }
  const TrialRequest& request() const { return request_; }
  TimeSource source() const { return source_; }
  // What it runs that may be dangerous; null: the default or the reference.
  const journal::Trial* runs() const { return runs_ ? &*runs_ : nullptr; }
  void note_runs(const journal::Trial& trial, HandedOver handed) {
    runs_ = trial;
    handed_ = std::move(handed);
  }
  HandedOver take_handed() { return std::move(handed_); }
  Nanoseconds started() const { return started_; }

  // The caller's gap is over and the stage runs on.
  void gap_ends(Nanoseconds now, const Kernels& kernels);

  // At most how long the stage, which came to `outcome`, delayed launches on the device: by what of
  // it was left when the first one came. Where launches are not logged: not at all if none came, by
  // what was left after the gap if they came then, otherwise by all of it.
  Nanoseconds interference(const TrialOutcome& outcome, const Kernels& kernels) const;

 private:
  std::optional<Nanoseconds> first_logged_launch(const Kernels& kernels) const;

  ShapeTask* task_;
  std::optional<journal::Trial> runs_;
  HandedOver handed_;
  TrialRequest request_;
  TimeSource source_;
  Nanoseconds started_;
  Nanoseconds gap_end_{0};      // 0: the gap has not ended
  bool disturbed_gap_ = false;  // launches came before it ended
  std::uint64_t launches_before_;
  std::vector<std::uint64_t> log_ends_;  // of each kernel's launch log when the stage began
};

}  // namespace idletune::detail
