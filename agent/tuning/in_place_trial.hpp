// Timing a checked candidate by the application's own launches, within a slow-down that it allows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <idletune/device.hpp>

#include "agent/scheduler/step_plan.hpp"
#include "agent/trial/trial.hpp"
#include "agent/tuning/recent_times.hpp"

namespace idletune::detail {

// First the checks, which need the device for a few runs (compile, then prepare and check for both
// seeds); then every `period`-th launch runs the candidate, and as many launches of the incumbent
// are timed beside it, so that clock drift hits both. Pure logic, no clock. One thread.
class InPlaceTrial {
 public:
  static constexpr std::size_t kSamples = 7;

  // `max_slowdown`: by which share the launches may become slower meanwhile.
  InPlaceTrial(const StepOptions& options, const Shape& shape, const Configuration& candidate,
               double max_slowdown);

  // The next check; nothing when all passed or one failed.
  std::optional<TrialRequest> next() const;
  void on_outcome(const TrialOutcome& outcome);
  // It passed the checks, but cannot be built for launches.
  void on_build_failure();
  // All checks passed: the candidate may be launched.
  bool checked() const { return state_ == State::timing; }

  // A candidate's launch may happen every so many launches. Assumes a candidate three times as slow
  // before the first time is known.
  std::uint32_t period() const;
  void on_candidate_time(Nanoseconds time) { candidate_.add(time); }
  void on_incumbent_time(Nanoseconds time) { incumbent_.add(time); }

  bool done() const { return verdict() != TrialVerdict::pending; }
  // adopt: the median of the candidate's times beats the incumbent's by the margin. A candidate
  // that is clearly slower at its first time is not launched again.
  TrialVerdict verdict() const;
  TrialStatus status() const { return status_; }
  Nanoseconds candidate_time() const { return candidate_.median(); }
  Nanoseconds incumbent_time() const { return incumbent_.median(); }
  // Times of both sides; with any, slowdown() is the ratio of their medians.
  std::size_t pairs() const { return std::min(candidate_.count(), incumbent_.count()); }
  double slowdown() const;
  Nanoseconds compile_time() const { return compile_time_; }
  // Kernel time that the application lost to the candidate's launches (negative: won).
  Nanoseconds last_loss(Nanoseconds candidate_time) const {
    return candidate_time - incumbent_.median();
  }

 private:
  enum class State : std::uint8_t { compile, prepare, check, timing, failed };

  StepOptions options_;
  Shape shape_;
  Configuration configuration_;
  double max_slowdown_;
  State state_ = State::compile;
  std::size_t seed_ = 0;
  TrialStatus status_ = TrialStatus::correct;
  Nanoseconds compile_time_{0};
  RecentTimes candidate_;
  RecentTimes incumbent_;
};

}  // namespace idletune::detail
