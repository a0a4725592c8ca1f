#include "tests/lives/wall_clock.hpp"

namespace {

const idletune::MonotonicClock* followed = nullptr;
constexpr std::chrono::seconds kStart(1700000000);
std::chrono::nanoseconds set_by{0};

}  // namespace

namespace idletune::lives {

void wall_clock_follows(const MonotonicClock& clock) {
  followed = &clock;
  set_by = std::chrono::nanoseconds{0};
}
void wall_clock_passes(std::chrono::nanoseconds duration) { set_by += duration; }

}  // namespace idletune::lives

// Instead of the standard library's: the program's own definition is found first.
std::chrono::system_clock::time_point std::chrono::system_clock::now() noexcept {
  std::chrono::nanoseconds time = kStart + set_by;
  if (followed != nullptr) time += followed->now();
  return time_point(std::chrono::duration_cast<duration>(time));
}
