// The device of a history: what each stage of a trial would take on it. Host side.
#pragma once

#include <cstddef>
#include <vector>

#include <idletune/result.hpp>

#include "agent/trial/trial.hpp"
#include "models/host/history/history.hpp"

namespace idletune::regret {

// Times of the rows of a history in whole nanoseconds, at least 1. Run times are the history's
// figure for the row, the same for every run; compile times are those recorded, for rows without
// one the median of the others, 0 where none has any. Immutable.
class RecordedDevice {
 public:
  // Error: invalid_argument if nothing in the history ran correctly.
  static Result<RecordedDevice> of(const History& history);

  std::size_t rows() const { return status_.size(); }
  TrialStatus status(std::size_t row) const { return status_[row]; }
  bool correct(std::size_t row) const { return status_[row] == TrialStatus::correct; }
  // Of one launch; 0 unless correct.
  Nanoseconds run_time(std::size_t row) const { return run_time_[row]; }
  Nanoseconds compile_time(std::size_t row) const { return compile_time_[row]; }
  // Correct rows, fastest first.
  const std::vector<std::size_t>& by_time() const { return by_time_; }
  bool has_compile_times() const { return has_compile_times_; }

  // What a stage with that row gives (agent/host/lab/replayed_trials.hpp). The cost of a step is the sum
  // of the `wall` of its stages.
  TrialOutcome outcome(const TrialRequest& request, std::size_t row) const;

 private:
  std::vector<TrialStatus> status_;
  std::vector<Nanoseconds> run_time_;
  std::vector<Nanoseconds> compile_time_;
  std::vector<std::size_t> by_time_;
  bool has_compile_times_ = false;
};

}  // namespace idletune::regret
