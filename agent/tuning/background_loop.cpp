#include "agent/tuning/background_loop.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "models/core/lists.hpp"
#include "models/core/order.hpp"

namespace idletune::detail {
namespace {

constexpr Nanoseconds kBoardInterval = std::chrono::seconds(1);
constexpr Nanoseconds kGapsAreOver = std::chrono::seconds(1);  // longer than any frame
constexpr Nanoseconds kNothingPays = std::chrono::milliseconds(200);
constexpr Nanoseconds kLook = std::chrono::milliseconds(100);
constexpr Nanoseconds kNoGap = std::chrono::milliseconds(1);
constexpr Nanoseconds kStageRuns = std::chrono::milliseconds(5);
constexpr char kAlwaysBusy[] = "launches leave the device no gap: call idle() where it may wait";
constexpr char kDutyUsedUp[] = "the share of time that max_duty allows is used up";

}  // namespace

BackgroundLoop::BackgroundLoop(TuningEngine& engine, const BackgroundOptions& options,
                               const Surroundings& surroundings)
    : engine_(engine),
      options_(options),
      surroundings_(surroundings),
      gaps_(surroundings.clock->now()),
      duty_(options.max_duty, surroundings.clock->now()),
      used_before_(engine.gap_wall()),
      ran_at_(surroundings.clock->now()),
      looked_at_(ran_at_ - kLook),
      gap_seen_at_(ran_at_) {
  for (const std::unique_ptr<KernelTask>& kernel : engine.kernels()) {
    push(log_positions_, kernel->state->launch_log().end());
  }
}

Nanoseconds BackgroundLoop::round() {
  learn_gaps();
  const Nanoseconds time = surroundings_.clock->now();
  if (!board_allows(time)) {
    look_at_launches(time);
    engine_.hold_back(Blocker::board, board_blocks_);
    return kLook;
  }
  engine_.set_longest_gap(gaps_.longest_usual_gap());
  const Nanoseconds gap = gap_at(time);
  if (gap.count() <= 0) {
    look_at_launches(time);
    if (time - ran_at_ > kBoardInterval) engine_.hold_back(Blocker::gap, kAlwaysBusy);
    return std::clamp(gaps_.busy_until() - time, kNoGap, kLook);
  }
  if (const Nanoseconds ready = duty_.ready_in(time, gap); ready.count() > 0) {
    look_at_launches(time);
    engine_.hold_back(Blocker::duty, kDutyUsedUp);
    return std::min<Nanoseconds>(ready, kNothingPays);
  }
  ran_at_ = looked_at_ = time;
  engine_.set_beyond_gap(gap - std::min(gap, gaps_.remaining(time)));
  const IdleReport report = engine_.run(gap, TimeSource::idle);
  engine_.set_beyond_gap(Nanoseconds{0});
  // What waits for a compiler does not use the device.
  duty_.spend(surroundings_.clock->now(), engine_.gap_wall() - used_before_);
  used_before_ = engine_.gap_wall();
  needs_ = report.needs;
  if (report.waiting) return kStageRuns;
  if (report.needs.count() > 0) return std::max(kNoGap, report.needs / 4);
  return report.stages > 0 ? kNoGap : kNothingPays;
}

// What they took tells whether the device is as busy as it seems, and whether what was adopted
// still wins.
void BackgroundLoop::look_at_launches(Nanoseconds time) {
  if (time - looked_at_ < kLook) return;
  looked_at_ = time;
  (void)engine_.run(Nanoseconds{0}, TimeSource::idle);
}

// Where launches may be used for measuring, checks need not wait for gaps that do not come, or that
// no longer come.
Nanoseconds BackgroundLoop::gap_at(Nanoseconds time) {
  const Nanoseconds gap = std::min(gaps_.remaining(time), options_.max_gap);
  if (gap >= kNoGap) gap_seen_at_ = time;
  const bool too_short = gaps_.longest_usual_gap() <= std::max(needs_, kNoGap);
  const bool none_comes = time - gap_seen_at_ > kGapsAreOver;
  return (too_short || none_comes) && launches_may_measure() ? options_.max_gap : gap;
}

bool BackgroundLoop::launches_may_measure() const {
  for (const std::unique_ptr<KernelTask>& kernel : engine_.kernels()) {
    if (kernel->in_place.allowed) return true;
  }
  return false;
}

void BackgroundLoop::learn_gaps() {
  const std::vector<std::unique_ptr<KernelTask>>& kernels = engine_.kernels();
  while (log_positions_.size() < kernels.size()) push(log_positions_, 0);
  // The logs are merged by time: the predictor wants the launches in order.
  struct Launch {
    Nanoseconds at;
    Nanoseconds run;
  };
  std::vector<Launch> launches;
  // Until where a log has lost launches no pause is known, whatever the others have.
  Nanoseconds lost_until{0};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    LaunchLog::Entry entry;
    bool lost = false;
    while (kernels[i]->state->launch_log().read(log_positions_[i], entry, lost)) {
      Nanoseconds run{0};
      for (const std::unique_ptr<ShapeTask>& task : kernels[i]->shapes) {
        if (&task->slot == entry.slot) run = task->launch_time();
      }
      launches.push_back({entry.at, run});
      if (std::exchange(lost, false)) lost_until = std::max(lost_until, entry.at);
    }
  }
  sort_stably(launches, [](const Launch& a, const Launch& b) { return a.at < b.at; });
  for (const Launch& launch : launches) {
    if (launch.at <= lost_until) gaps_.on_lost_launches();
    gaps_.on_launch(launch.at, launch.run);
  }
}

bool BackgroundLoop::board_allows(Nanoseconds time) {
  if (board_was_read_ && time - board_read_at_ < kBoardInterval) return board_blocks_.empty();
  board_was_read_ = true;
  board_read_at_ = time;
  BoardLimits limits;
  limits.min_battery = options_.min_battery;
  limits.max_gpu_load = options_.max_load;
  limits.min_thermal_margin_c = options_.thermal_margin_c;
  board_blocks_ = blocks_tuning(surroundings_.read_board(), limits).value_or(std::string_view());
  return board_blocks_.empty();
}

}  // namespace idletune::detail
