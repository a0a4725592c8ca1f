#include "agent/scheduler/production_watch.hpp"

#include <algorithm>

#include "agent/scheduler/nanoseconds.hpp"
#include "models/core/order.hpp"

namespace idletune {
namespace {

// Samples that say something of losses before the window is full.
constexpr std::uint64_t kFewest = 3;

constexpr double kDemoteFactor = 1.05;   // median above this times the default's time: demote
constexpr double kRecheckFactor = 1.25;  // median above this times the expected time: recheck

Nanoseconds times(Nanoseconds time, double factor) { return from_ns(real_ns(time) * factor); }

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

void ProductionWatch::sample(Nanoseconds time) {
  if (time.count() <= 0) return;
  ring_[static_cast<std::size_t>(samples_ % kWindow)] = time;
  ++samples_;
  profiling_ = true;
}

WatchStatus ProductionWatch::status() const {
  if (!profiling_) return WatchStatus::unavailable;
  if (samples_ < kWindow) return WatchStatus::learning;
  const Nanoseconds typical = median();
  if (default_time_.count() > 0 && typical > times(default_time_, kDemoteFactor)) {
    return WatchStatus::demote;
  }
  if (expected_.count() > 0 && typical > times(expected_, kRecheckFactor)) {
    return WatchStatus::recheck;
  }
  return WatchStatus::fine;
}

Nanoseconds ProductionWatch::median() const {
  return samples_ < kWindow ? Nanoseconds{0} : order_statistic(1, 2);
}

Nanoseconds ProductionWatch::saving_per_launch() const {
  if (samples_ < kFewest || default_time_.count() <= 0) return Nanoseconds{0};
  if (samples_ >= kWindow) {
    // What is faster than expected may run by another clock than the default was timed by.
    const Nanoseconds typical = median();
    const double clock = typical < expected_ ? real_ns(typical) / real_ns(expected_) : 1;
    const Nanoseconds untuned = times(default_time_, clock);
    const Nanoseconds saved = untuned - order_statistic(3, 4);
    return typical > untuned ? saved : std::max(saved, Nanoseconds{0});
  }
  return std::min(Nanoseconds{0}, default_time_ - order_statistic(1, 2));
}

Nanoseconds ProductionWatch::order_statistic(std::size_t numerator, std::size_t denominator) const {
  std::array<Nanoseconds, kWindow> sorted = ring_;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(samples_, kWindow));
  sort_ascending(Span<Nanoseconds>(sorted.data(), count));
  return sorted[count * numerator / denominator];
}

}  // namespace idletune
