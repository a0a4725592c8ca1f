#include "agent/tuning/stage_in_flight.hpp"

#include <algorithm>
#include <utility>

namespace idletune::detail {
namespace {

std::uint64_t all_launches(const StageInFlight::Kernels& kernels) {
  std::uint64_t sum = 0;
  for (const std::unique_ptr<KernelTask>& kernel : kernels) {
    sum += kernel->state->unslotted_launches() + kernel->state->table().launches();
  }
  return sum;
}

}  // namespace

StageInFlight::StageInFlight(ShapeTask& task, const TrialRequest& request, TimeSource source,
                             Nanoseconds now, const Kernels& kernels)
    : task_(&task),
      request_(request),
      source_(source),
      started_(now),
      launches_before_(all_launches(kernels)) {
  for (const std::unique_ptr<KernelTask>& kernel : kernels) {
    log_ends_.push_back(kernel->state->launch_log().end());
  }
}

void StageInFlight::gap_ends(Nanoseconds now, const Kernels& kernels) {
  if (gap_end_.count() > 0) return;
  gap_end_ = now;
  disturbed_gap_ = all_launches(kernels) != launches_before_;
}

// Nothing where launches are not logged, or were not at first.
std::optional<Nanoseconds> StageInFlight::first_logged_launch(const Kernels& kernels) const {
  std::optional<Nanoseconds> first;
  std::uint64_t unlogged = all_launches(kernels) - launches_before_;
  for (std::size_t i = 0; i < log_ends_.size(); ++i) {
    const LaunchLog& log = kernels[i]->state->launch_log();
    std::uint64_t position = log_ends_[i];
    unlogged -= std::min(unlogged, log.end() - position);
    LaunchLog::Entry entry;
    bool lost = false;
    const bool there = log.read(position, entry, lost);
    if (lost) return started_;
    if (there && (!first || entry.at < *first)) first = entry.at;
  }
  return unlogged == 0 ? first : std::nullopt;
}

Nanoseconds StageInFlight::interference(const TrialOutcome& outcome, const Kernels& kernels) const {
  if (all_launches(kernels) == launches_before_) return Nanoseconds{0};
  const Nanoseconds whole = std::max(outcome.device, Nanoseconds{0});
  const Nanoseconds end = started_ + outcome.wall + outcome.frozen;
  if (const std::optional<Nanoseconds> first = first_logged_launch(kernels)) {
    return std::clamp(end - *first, Nanoseconds{0}, whole);
  }
  if (disturbed_gap_ || gap_end_.count() == 0) return whole;
  return std::clamp(end - gap_end_, Nanoseconds{0}, whole);
}

}  // namespace idletune::detail
