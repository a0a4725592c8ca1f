#include "agent/scheduler/idle_gaps.hpp"

#include <algorithm>
#include <cmath>

#include "agent/scheduler/nanoseconds.hpp"
#include "models/core/order.hpp"

namespace idletune {
namespace {

constexpr double kLowQuantile = 0.1;  // of the remaining length; smaller is more careful
constexpr Nanoseconds kShortest = std::chrono::microseconds(50);  // shorter pauses are not gaps
// Fewer remembered gaps say nothing yet.
constexpr std::size_t kEnough = 8;
// What is queued is believed to take no longer than this (or than its last launch): where run times
// are expected too long, the device would be busy for ever.
constexpr Nanoseconds kLongestQueue = std::chrono::seconds(1);
// Counted on from here until the next long gap, positions match no remembered ones.
constexpr std::uint32_t kUnknownPosition = 1u << 30;

// P(gap > x) ~ 1 / x: of a pause that has lasted `elapsed`, a share q ends within elapsed q / (1 -
// q).
Nanoseconds scale_free_rest(Nanoseconds elapsed) {
  constexpr double kOdds = kLowQuantile / (1.0 - kLowQuantile);
  return from_ns(real_ns(elapsed) * kOdds);
}

}  // namespace

void IdleGapPredictor::on_launch(Nanoseconds at, Nanoseconds run) {
  if (run.count() < 0) run = Nanoseconds{0};
  const Nanoseconds pause = at - busy_until_;
  if (has_launched_ && !lost_ && pause > kShortest) remember(pause);
  lost_ = false;
  busy_until_ = std::min(std::max(busy_until_, at) + run, at + std::max(run, kLongestQueue));
  has_launched_ = true;
  ++position_;
}

void IdleGapPredictor::on_lost_launches() {
  lost_ = true;
  position_ = kUnknownPosition;
}

void IdleGapPredictor::remember(Nanoseconds length) {
  ring_[next_] = Gap{length, position_};
  next_ = (next_ + 1) % kCapacity;
  size_ = std::min(size_ + 1, kCapacity);
  // A gap is long if it is at least half of the usual longest one: where all gaps are alike every
  // one is, and the position is always 1.
  if (size_ <= 16 || next_ % 8 == 0) long_gap_ = usual_longest() / 2;
  if (length >= long_gap_) position_ = 0;
}

Nanoseconds IdleGapPredictor::usual_longest() const {
  std::array<Nanoseconds, kCapacity> lengths;
  return lengths[(sorted_rests(Nanoseconds{0}, false, lengths) - 1) * 9 / 10];
}

std::size_t IdleGapPredictor::sorted_rests(Nanoseconds elapsed, bool same_position,
                                           std::array<Nanoseconds, kCapacity>& rests) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    if (ring_[i].length <= elapsed) continue;
    if (same_position && ring_[i].position != position_) continue;
    rests[count++] = ring_[i].length - elapsed;
  }
  sort_ascending(Span<Nanoseconds>(rests.data(), count));
  return count;
}

Nanoseconds IdleGapPredictor::remaining(Nanoseconds now) const {
  const Nanoseconds elapsed = now - busy_until_;
  if (elapsed.count() <= 0) return Nanoseconds{0};
  const Nanoseconds fallback = scale_free_rest(elapsed);
  if (size_ < kEnough || lost_) return fallback;
  std::array<Nanoseconds, kCapacity> rests;
  std::size_t count = sorted_rests(elapsed, true, rests);
  if (count < kEnough) count = sorted_rests(elapsed, false, rests);
  if (count == 0) return fallback;
  const auto rank = static_cast<std::size_t>(kLowQuantile * static_cast<double>(count + 1));
  if (rank >= 1) return rests[rank - 1];
  // Too few for the quantile: part of the shortest, less with fewer of them.
  constexpr double kWanted = 1.0 / kLowQuantile - 1.0;
  const double part = std::min(1.0, static_cast<double>(count) / kWanted);
  return from_ns(real_ns(rests[0]) * part);
}

Nanoseconds IdleGapPredictor::longest_usual_gap() const {
  return size_ < kEnough ? Nanoseconds{0} : usual_longest();
}

DutyLimiter::DutyLimiter(double max_duty, Nanoseconds start, Nanoseconds burst)
    : max_duty_(std::isfinite(max_duty) ? std::clamp(max_duty, 0.0, 1.0) : 0.0),
      burst_ns_(real_ns_from_0(burst)),
      balance_ns_(burst_ns_),
      last_(start) {}

double DutyLimiter::balance_at(Nanoseconds now) const {
  return std::min(burst_ns_, balance_ns_ + max_duty_ * real_ns_from_0(now - last_));
}

Nanoseconds DutyLimiter::ready_in(Nanoseconds now, Nanoseconds cost) const {
  if (max_duty_ >= 1.0) return Nanoseconds{0};
  if (max_duty_ <= 0.0) return Nanoseconds::max();
  const double missing = std::min(burst_ns_, real_ns_from_0(cost)) - balance_at(now);
  return from_ns(std::ceil(missing / max_duty_));
}

void DutyLimiter::spend(Nanoseconds now, Nanoseconds used) {
  balance_ns_ = balance_at(now) - real_ns_from_0(used);
  last_ = std::max(last_, now);
}

}  // namespace idletune
