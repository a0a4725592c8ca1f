#include <idletune/race.hpp>

#include <algorithm>
#include <chrono>

#include "models/core/order.hpp"

namespace idletune {
namespace {

// Of times that contradict each other: until those of a former clock are forgotten.
constexpr std::uint32_t kLongest = 2 * RecentTimes::kCapacity;

}  // namespace

Nanoseconds RecentTimes::typical(Estimator estimator, std::size_t last) const {
  const std::size_t count = std::min(size_, last);
  if (count == 0) return Nanoseconds{0};
  std::array<Nanoseconds, kCapacity> sorted;
  for (std::size_t i = 0; i < count; ++i)
    sorted[i] = ring_[(next_ + kCapacity - 1 - i) % kCapacity];
  sort_ascending(Span<Nanoseconds>(sorted.data(), count));
  return sorted[(count - 1) / static_cast<std::size_t>(estimator)];
}

std::size_t Race::join(double prior) {
  if (size_ == kMost) return kNobody;
  entrants_[size_] = {prior, true};
  return size_++;
}

void Race::remove(std::size_t i) {
  entrants_[i] = entrants_[--size_];
  leave(size_);
}

void Race::restart() {
  for (Entrant& entrant : entrants_) entrant = {entrant.prior, entrant.in};
  entrants_[kIncumbent].in = policy_.incumbent;
  reopen();
}

void Race::reopen() {
  for (Entrant& entrant : entrants_) entrant.counted = std::min(entrant.counted, 1u);
  runs_ = 0;
  places_ = kNobody;
  cut_at_ = policy_.heat;
}

void Race::add(std::size_t i, Nanoseconds time) {
  ran(i);
  Entrant& entrant = entrants_[i];
  if (runs(i) <= policy_.uncounted || counted(i) > field().rounds) return;
  add_out_of_turn(i, time);
  ++entrant.counted;
}

void Race::add_out_of_turn(std::size_t i, Nanoseconds time) {
  Entrant& entrant = entrants_[i];
  entrant.times.add(time);
  entrant.time = entrant.times.typical(policy_.estimator);
}

Race::Field Race::field() const {
  Field field;
  for (std::size_t i = 0; i <= kMost; ++i) {
    if (!is_in(i)) continue;
    ++field.left;
    if (counted(i) < field.rounds) field = {field.left, counted(i), 0, i};
    if (counted(i) == field.rounds) ++field.due;
  }
  return field;
}

double Race::ratio(std::size_t i) const {
  if (time(i).count() == 0 || time(kIncumbent).count() == 0) return entrants_[i].prior;
  return std::chrono::duration<double, std::nano>(time(i)) / time(kIncumbent);
}

std::size_t Race::best() const {
  std::size_t best = kNobody;
  for (std::size_t i = 0; i < size_; ++i) {
    if (!is_in(i) || time(i).count() == 0) continue;
    if (best == kNobody || time(i) < time(best)) best = i;
  }
  if (!policy_.incumbent) return best;
  const bool stays = best == kNobody || ratio(best) > 1 - policy_.margin;
  // No more times settle it: the clock changed between them, say.
  const bool unsettled = !stays && field().rounds >= kLongest && contradicted(best, kIncumbent);
  return stays || unsettled ? kIncumbent : best;
}

bool Race::hopeless(std::size_t i) const {
  const std::size_t other = policy_.incumbent ? kIncumbent : best();
  if (other == kNobody || time(other).count() == 0) return false;
  const std::uint32_t both = std::min(counted(i), counted(other));
  const double bound = both < policy_.heat ? policy_.hopeless_in_heat : policy_.hopeless;
  return both > 0 && time(i) > bound * time(other) &&
         times(i).median() > bound * times(other).median() && !contradicted(other, i);
}

// That `faster` is faster. What runs need not be: it stays where nothing beats it by the margin.
bool Race::contradicted(std::size_t faster, std::size_t slower) const {
  if (!policy_.incumbent) return false;  // nobody may be the faster one
  const double bound = faster == kIncumbent ? 1 - policy_.margin : 1;
  bool contradicted = false;
  for (const Estimator each : {Estimator::median, Estimator::minimum}) {
    contradicted =
        contradicted || times(slower).typical(each) < bound * times(faster).typical(each);
  }
  return contradicted;
}

std::size_t Race::loser() {
  std::size_t slowest = kNobody, fastest = kNobody;
  for (std::size_t i = kMost + 1; i-- > 0;) {
    if (!is_in(i)) continue;
    if (hopeless(i)) return i;
    if (fastest == kNobody || time(i) < time(fastest)) fastest = i;
    if (i == kIncumbent) continue;
    if (slowest == kNobody || time(i) > time(slowest)) slowest = i;
  }
  const Field now = field();
  if (now.rounds >= cut_at_) {
    const std::size_t half = std::max<std::size_t>(2, (now.left + 1) / 2);
    places_ = places_ == kNobody ? policy_.finalists : half;
    cut_at_ += policy_.halving;
  }
  if (slowest == kNobody) return kNobody;
  // The others are compared with what runs to the end, and it takes no place where it is slower.
  const bool behind = policy_.incumbent && time(kIncumbent) >= time(slowest);
  if (now.left <= places_ + (behind ? 1 : 0)) return kNobody;
  if (contradicted(fastest, slowest) && now.rounds < kLongest) return kNobody;
  return slowest;
}

bool Race::over() const {
  const Field now = field();
  if (now.rounds < policy_.enough) {
    const bool alone = !policy_.incumbent && now.left == 1;
    return now.rounds > 0 && (alone || runs_ + now.due > policy_.most_runs);
  }
  const std::size_t best = this->best();
  for (std::size_t i = 0; i <= kMost && now.rounds < kLongest; ++i) {
    if (is_in(i) && contradicted(best, i)) return false;
  }
  return true;
}

}  // namespace idletune
