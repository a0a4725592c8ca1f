#include "agent/scheduler/idle_gaps.hpp"

#include <algorithm>
#include <cmath>

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
  return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(elapsed.count()) * kOdds));
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
  if (size_ <= 16 || next_ % 8 == 0) refresh_threshold();
  if (length >= long_gap_) position_ = 0;
}

// A gap is long if it is at least half of the usual longest one: where all gaps are alike every one
// is, and the position is always 1.
void IdleGapPredictor::refresh_threshold() {
  std::array<Nanoseconds, kCapacity> lengths;
  for (std::size_t i = 0; i < size_; ++i) lengths[i] = ring_[i].length;
  sort_ascending(Span<Nanoseconds>(lengths.data(), size_));
  long_gap_ = lengths[(size_ - 1) * 9 / 10] / 2;
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
  return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(rests[0].count()) * part));
}

Nanoseconds IdleGapPredictor::longest_usual_gap() const {
  if (size_ < kEnough) return Nanoseconds{0};
  std::array<Nanoseconds, kCapacity> lengths;
  for (std::size_t i = 0; i < size_; ++i) lengths[i] = ring_[i].length;
  sort_ascending(Span<Nanoseconds>(lengths.data(), size_));
  return lengths[(size_ - 1) * 9 / 10];
}

DutyLimiter::DutyLimiter(double max_duty, Nanoseconds start, Nanoseconds burst)
    : max_duty_(std::isfinite(max_duty) ? std::clamp(max_duty, 0.0, 1.0) : 0.0),
      burst_ns_(std::max(0.0, static_cast<double>(burst.count()))),
      balance_ns_(burst_ns_),
      last_(start) {}

double DutyLimiter::balance_at(Nanoseconds now) const {
  const double earned =
      max_duty_ * static_cast<double>(std::max<std::int64_t>(0, (now - last_).count()));
  return std::min(burst_ns_, balance_ns_ + earned);
}

Nanoseconds DutyLimiter::ready_in(Nanoseconds now, Nanoseconds cost) const {
  if (max_duty_ >= 1.0) return Nanoseconds{0};
  if (max_duty_ <= 0.0) return Nanoseconds::max();
  const double needed =
      std::min(burst_ns_, static_cast<double>(std::max<std::int64_t>(0, cost.count())));
  const double missing = needed - balance_at(now);
  if (missing <= 0) return Nanoseconds{0};
  const double wait = std::ceil(missing / max_duty_);
  return wait >= 9.0e18 ? Nanoseconds::max() : Nanoseconds(static_cast<std::int64_t>(wait));
}

void DutyLimiter::spend(Nanoseconds now, Nanoseconds used) {
  balance_ns_ = balance_at(now) - static_cast<double>(std::max<std::int64_t>(0, used.count()));
  last_ = std::max(last_, now);
}

}  // namespace idletune
