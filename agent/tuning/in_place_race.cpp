#include "agent/tuning/in_place_race.hpp"

#include <algorithm>
#include <cmath>

#include "agent/launch/launch_table.hpp"
#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::detail {

InPlaceRace::InPlaceRace(const StepOptions& options, double max_slowdown)
    : max_slowdown_(std::max(max_slowdown, 0.001)),
      margin_(options.margin),
      screening_factor_(options.screening_factor),
      hopeless_factor_(options.hopeless_factor) {}

void InPlaceRace::join(double ratio) {
  racers_[candidates_++].screened = ratio;
  restart();  // what was timed before it may be of another clock
}

void InPlaceRace::leave(std::size_t candidate) { racers_[candidate] = racers_[--candidates_]; }

void InPlaceRace::restart() {
  for (Racer& racer : racers_) racer.times.clear();
  incumbent_runs_ = true;
}

double InPlaceRace::ratio(std::size_t candidate) const {
  const Racer& racer = racers_[candidate];
  if (racer.times.count() == 0 || times(kIncumbent).count() == 0) return racer.screened;
  return real_ns(time(candidate)) / real_ns(time(kIncumbent));
}

double InPlaceRace::median_ratio(std::size_t candidate) const {
  return real_ns(times(candidate).median()) / real_ns(times(kIncumbent).median());
}

bool InPlaceRace::over() const {
  if (!launched(kSamples)) return false;
  if (launched(RecentTimes::kCapacity)) return true;
  std::size_t best = winner();
  if (best == candidates_) best = kIncumbent;
  for (std::size_t i = 0; i < candidates_; ++i) {
    if (contradicted(best, i)) return false;
  }
  return !incumbent_runs_ || !contradicted(best, kIncumbent);
}

std::uint32_t InPlaceRace::turns() const {
  constexpr double kUnknown = 3.0;
  const std::size_t racers = candidates_ + (incumbent_runs_ ? 1 : 0);
  double excess = 0;
  for (std::size_t i = 0; i < candidates_; ++i) {
    excess += (ratio(i) > 0 ? ratio(i) : kUnknown) - 1;
  }
  const double cycle = std::ceil(excess / max_slowdown_ - 1e-9);
  return RaceTurns::pack(
      static_cast<std::uint32_t>(std::clamp(cycle, static_cast<double>(racers), 100000.0)),
      static_cast<std::uint32_t>(candidates_), incumbent_runs_);
}

bool InPlaceRace::launched(std::size_t launches) const {
  for (std::size_t i = 0; i < candidates_; ++i) {
    if (times(i).count() < launches) return false;
  }
  return !incumbent_runs_ || times(kIncumbent).count() >= launches;
}

bool InPlaceRace::hopeless(std::size_t candidate) const {
  const std::size_t both = std::min(times(candidate).count(), times(kIncumbent).count());
  if (both == 0) return false;
  const double bound = both < kFirstLook ? hopeless_factor_ : screening_factor_;
  return ratio(candidate) > bound && median_ratio(candidate) > bound &&
         !contradicted(kIncumbent, candidate);
}

// That `faster` is faster. What runs need not be: it stays where nothing beats it by the margin.
bool InPlaceRace::contradicted(std::size_t faster, std::size_t slower) const {
  const RecentTimes &one = times(faster), &other = times(slower);
  const double bound = faster == kIncumbent ? 1 - margin_ : 1;
  return real_ns(other.median()) < bound * real_ns(one.median()) ||
         real_ns(other.minimum()) < bound * real_ns(one.minimum());
}

std::size_t InPlaceRace::loser() {
  for (std::size_t i = 0; i < candidates_; ++i) {
    if (hopeless(i)) return i;
  }
  if (!launched(kFirstLook) || candidates_ + (incumbent_runs_ ? 1 : 0) <= 2) return candidates_;
  std::size_t slowest = incumbent_runs_ ? kIncumbent : 0;
  std::size_t fastest = slowest;
  for (std::size_t i = 0; i < candidates_; ++i) {
    if (time(i) > time(slowest)) slowest = i;
    if (time(i) < time(fastest)) fastest = i;
  }
  if (contradicted(fastest, slowest) && !launched(RecentTimes::kCapacity)) return candidates_;
  if (slowest != kIncumbent) return slowest;
  incumbent_runs_ = false;
  return loser();
}

std::size_t InPlaceRace::winner() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates_; ++i) {
    if (time(i) < time(best)) best = i;
  }
  return best < candidates_ && ratio(best) <= 1 - margin_ ? best : candidates_;
}

}  // namespace idletune::detail
