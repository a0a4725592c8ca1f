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

// First everything of a CandidateTrial but its finals, in the trial runner: checks, and a screening
// that spares the application's launches what is clearly slower. Then one of `period` launches runs
// the candidate, and as many launches of the incumbent are timed beside it, so that clock drift
// hits both. Pure logic, no clock. One thread.
class InPlaceTrial {
 public:
  static constexpr std::size_t kSamples = 7;
  static constexpr std::size_t kFirstLook = 3;

  // `max_slowdown`: by which share the launches may become slower meanwhile.
  InPlaceTrial(const StepOptions& options, const CandidateContext& context, double max_slowdown);

  // The next stage in the runner; nothing when launches are to time it, or it was rejected.
  std::optional<TrialRequest> next() const { return before_.next(); }
  bool next_is_incumbent() const { return before_.next_is_incumbent(); }
  void on_outcome(const TrialOutcome& outcome) { before_.on_outcome(outcome); }
  // It got to the finals, but cannot be built for launches.
  void on_build_failure() { built_ = false; }
  // It got to the finals: the candidate may be launched.
  bool checked() const { return built_ && before_.verdict() == TrialVerdict::adopt; }

  // A candidate's launch may happen every so many launches. Before the first time is known the
  // screening's counts.
  std::uint32_t period() const;
  void on_candidate_time(Nanoseconds time) { candidate_.add(time); }
  void on_incumbent_time(Nanoseconds time) { incumbent_.add(time); }

  bool done() const { return verdict() != TrialVerdict::pending; }
  // adopt: the lower quartile of the candidate's times beats the incumbent's by the margin. One
  // that is clearly slower is not launched again after three of each.
  TrialVerdict verdict() const;
  TrialStatus status() const { return built_ ? before_.status() : TrialStatus::compile; }
  const std::string& message() const { return before_.message(); }
  bool checked_all_seeds() const { return before_.checked_all_seeds(); }
  // By the clock of the trials, like CandidateTrial's: what launches said is a ratio.
  Nanoseconds candidate_time() const;
  // As CandidateTrial's: of launches where there were any, else of the screening.
  double ratio() const;
  std::size_t pairs() const { return std::min(candidate_.count(), incumbent_.count()); }
  // Of launches, which have two kinds of times: the median of the faster half.
  Nanoseconds raw_candidate_median() const { return candidate_.lower_quartile(); }
  Nanoseconds raw_incumbent_median() const { return incumbent_.lower_quartile(); }
  const CandidateContext& context() const { return before_.context(); }
  Nanoseconds compile_time() const { return before_.compile_time(); }
  // Kernel time that the application lost to the candidate's launches (negative: won).
  Nanoseconds last_loss(Nanoseconds candidate_time) const {
    return candidate_time - incumbent_.lower_quartile();
  }

 private:
  CandidateTrial before_;
  double max_slowdown_;
  double margin_;
  double screening_factor_;
  bool built_ = true;
  RecentTimes candidate_;
  RecentTimes incumbent_;
};

}  // namespace idletune::detail
