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

}  // namespace idletune
