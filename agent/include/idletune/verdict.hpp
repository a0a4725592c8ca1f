// The answers to "does more tuning pay?".
#pragma once

#include <cstdint>

namespace idletune {

enum class Verdict : std::uint8_t {
  tune = 0,         // the next steps are expected to pay
  use_history = 1,  // run the model's first pick; searching beyond it does not pay
  stop = 2,         // no number of steps pays
  wait = 3          // it would pay, but not now: not timed yet, no gap long enough, or no allowance
};
// "tune", "use_history", "stop", "wait". Never null.
const char* verdict_name(Verdict verdict);

// What keeps the next step from being made now, though one is wanted.
enum class Blocker : std::uint8_t {
  none = 0,      // nothing does, or no step is wanted
  gap = 1,       // its next stage does not fit the idle gaps that there are
  ledger = 2,    // the overhead limit does not allow what it is charged
  limit = 3,     // AgentOptions::max_tuning is used up
  duty = 4,      // BackgroundOptions::max_duty is used up just now
  board = 5,     // the board is too hot, too busy, or low on battery
  in_place = 6,  // launches of the application are to time a candidate, and did not do so yet
  build = 7,     // an accepted configuration is being compiled for launches
  trials = 8,    // no trial can be run any more: AgentStatus::trials, or tuning has ended
  compile =
      9  // compilations have had the share of time that AgentOptions::max_compile_share allows
};
// "none", "gap", ... Never null.
const char* blocker_name(Blocker blocker);

}  // namespace idletune
