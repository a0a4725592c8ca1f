#include "agent/tuning/tuning_task.hpp"

#include <algorithm>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::detail {

void ShapeTask::defer_duel() {
  constexpr std::uint64_t kFurthest = std::uint64_t{1} << 40;
  duel_interval = std::min(duel_interval * 4, kFurthest);
  duel_at = launches() + duel_interval;
}

std::uint32_t ShapeTask::lost_again(const Configuration& configuration) {
  std::size_t i = 0;
  while (i < comebacks.size() && comebacks[i].configuration != configuration) ++i;
  if (i == comebacks.size()) push(comebacks, Comeback{configuration});
  comebacks[i].from_launches = launches() + Comeback::waits_after(++comebacks[i].tries);
  return comebacks[i].tries;
}

void ShapeTask::timed_anew(Nanoseconds untuned, Nanoseconds tuned) {
  if (untuned.count() == 0 || tuned.count() == 0) return;
  search.clock_changed(default_time, untuned);
  default_time = untuned;
  running_time = tuned;
  timed_alike = true;
  look_for_comebacks = true;  // it may be slower than was believed
  if (untuned_launch.count() == 0) watch_anew();
}

void ShapeTask::watch_anew() {
  Nanoseconds untuned = default_time;
  Nanoseconds expected = running_time;
  if (untuned_launch.count() > 0 && default_time.count() > 0) {
    untuned = untuned_launch;
    expected = from_ns(real_ns(running_time) * real_ns(untuned_launch) / real_ns(default_time));
  }
  watch = ProductionWatch(untuned, expected);
  slot.time_launches();
  if (!kernel.state->profiling_available()) watch.profiling_unavailable();
}

}  // namespace idletune::detail
