// Tuning in the gaps between launches that nobody announces: when, and for how long.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <idletune/options.hpp>

#include "agent/scheduler/idle_gaps.hpp"
#include "agent/tuning/surroundings.hpp"
#include "agent/tuning/tuning_engine.hpp"

namespace idletune::detail {

// Learns the gaps from the engine's launch logs and lets the engine tune in the one that is open
// now, if there is one, the board allows it and the share of time is not used up. It sleeps nowhere
// and has no thread. One thread at a time: that which may use the engine.
class BackgroundLoop {
 public:
  // Engine and surroundings must outlive it. What was launched and tuned before is not its own.
  BackgroundLoop(TuningEngine& engine, const BackgroundOptions& options,
                 const Surroundings& surroundings);
  // One look, and perhaps one step of tuning. Returns how long to sleep before the next.
  Nanoseconds round();

 private:
  void learn_gaps();
  void look_at_launches(Nanoseconds time);
  bool board_allows(Nanoseconds time);
  bool launches_may_measure() const;
  Nanoseconds gap_at(Nanoseconds time);

  TuningEngine& engine_;
  const BackgroundOptions options_;
  const Surroundings& surroundings_;
  IdleGapPredictor gaps_;
  DutyLimiter duty_;
  std::vector<std::uint64_t> log_positions_;  // of each kernel's launch log
  Nanoseconds needs_{0};     // of the stage that did not fit the last gap; 0: all did
  Nanoseconds used_before_;  // of the engine's gap_wall()
  Nanoseconds board_read_at_{0};
  bool board_was_read_ = false;
  std::string_view board_blocks_;  // why; empty: it does not
  Nanoseconds ran_at_;             // the engine, last
  Nanoseconds looked_at_;          // at the times of launches, last
  Nanoseconds gap_seen_at_;        // the last one that a stage might fit
};

}  // namespace idletune::detail
