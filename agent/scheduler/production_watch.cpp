#include "agent/scheduler/production_watch.hpp"

#include <algorithm>

#include "models/core/order.hpp"

namespace idletune {
namespace {

// Samples that say something of losses before the window is full.
constexpr std::uint64_t kFewest = 3;

Nanoseconds times(Nanoseconds time, double factor) {
  return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * factor));
}

}  // namespace

const char* watch_status_name(WatchStatus status) {
  switch (status) {
    case WatchStatus::unavailable: return "unavailable";
    case WatchStatus::learning: return "learning";
    case WatchStatus::fine: return "fine";
    case WatchStatus::recheck: return "recheck";
    case WatchStatus::demote: return "demote";
  }
  return "unknown";
}

ProductionWatch::ProductionWatch(Nanoseconds default_time, Nanoseconds expected,
                                 const WatchOptions& options)
    : options_(options), default_time_(default_time), expected_(expected) {
  options_.window =
      std::clamp<std::uint32_t>(options_.window, 1, static_cast<std::uint32_t>(kCapacity));
}

void ProductionWatch::sample(Nanoseconds time) {
  if (time.count() <= 0) return;
  ring_[static_cast<std::size_t>(samples_ % options_.window)] = time;
  ++samples_;
  profiling_ = true;
}

WatchStatus ProductionWatch::status() const {
  if (!profiling_) return WatchStatus::unavailable;
  if (samples_ < options_.window) return WatchStatus::learning;
  const Nanoseconds typical = median();
  if (default_time_.count() > 0 && typical > times(default_time_, options_.demote_factor)) {
    return WatchStatus::demote;
  }
  if (expected_.count() > 0 && typical > times(expected_, options_.recheck_factor)) {
    return WatchStatus::recheck;
  }
  return WatchStatus::fine;
}

Nanoseconds ProductionWatch::median() const {
  return samples_ < options_.window ? Nanoseconds{0} : order_statistic(1, 2);
}

Nanoseconds ProductionWatch::saving_per_launch() const {
  if (samples_ < kFewest || default_time_.count() <= 0) return Nanoseconds{0};
  if (samples_ >= options_.window) {
    // What is faster than expected may run by another clock than the default was timed by.
    const Nanoseconds typical = median();
    const double clock = typical < expected_ ? static_cast<double>(typical.count()) /
                                                   static_cast<double>(expected_.count())
                                             : 1;
    const Nanoseconds untuned = times(default_time_, clock);
    const Nanoseconds saved = untuned - order_statistic(3, 4);
    return typical > untuned ? saved : std::max(saved, Nanoseconds{0});
  }
  return std::min(Nanoseconds{0}, default_time_ - order_statistic(1, 2));
}

Nanoseconds ProductionWatch::order_statistic(std::size_t numerator, std::size_t denominator) const {
  std::array<Nanoseconds, kCapacity> sorted = ring_;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(samples_, options_.window));
  sort_ascending(Span<Nanoseconds>(sorted.data(), count));
  return sorted[count * numerator / denominator];
}

}  // namespace idletune
