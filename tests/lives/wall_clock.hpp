// The wall clock of the played board, which may be set: the program's std::chrono::system_clock.
#pragma once

#include "platform/os/clock.hpp"

namespace idletune::lives {

// It goes as `clock` does. That must outlive its use.
void wall_clock_follows(const MonotonicClock& clock);
// Sets it forward, or back.
void wall_clock_passes(std::chrono::nanoseconds duration);

}  // namespace idletune::lives
