#include "agent/tuning/tuning_task.hpp"

#include <algorithm>

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
  watch_anew();
}

void ShapeTask::watch_anew() {
  watch = ProductionWatch(default_time, running_time);
  slot.time_launches();
  if (!kernel.state->profiling_available()) watch.profiling_unavailable();
}

}  // namespace idletune::detail
