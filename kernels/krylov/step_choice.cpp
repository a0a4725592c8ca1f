#include "kernels/krylov/step_choice.hpp"

#include <algorithm>
#include <utility>

namespace idletune::krylov {
namespace {

constexpr std::uint32_t kStepRuns = 17;  // of a turn
constexpr std::uint32_t kTurns = 3;      // of each way
constexpr double kHopedOfFusing = 0.25;  // of fused steps, as a share of a step's time; or feared
constexpr double kLostByFusing = 0.01;   // of the time of all steps, by trying fused ones

Race::Policy of_turns() {
  Race::Policy policy;  // what is told is the median of a turn
  policy.estimator = Estimator::minimum;
  policy.enough = kTurns;
  return policy;
}

}  // namespace

StepChoice::StepChoice(const SolverOptions& options)
    : race_(of_turns()),
      way_(way(false, options.steps == Steps::fused)),
      always_(options.choosing == Choosing::always),
      never_(options.choosing == Choosing::none),
      over_(never_) {
  for (std::size_t i = 0; i < kWays; ++i) {
    allowed_[i] = options.steps != (i % 2 != 0 ? Steps::apart : Steps::fused);
    race_.join();
  }
}

double StepChoice::best_us(bool converted) const {
  double best = 0;
  for (const std::size_t i : {way(converted, false), way(converted, true)}) {
    const double us = allowed_[i] ? us_of(i) : 0;
    if (best == 0 || (us > 0 && us < best)) best = us;
  }
  return best;
}

// Another way begins with a turn of its own.
void StepChoice::take(std::size_t way) {
  way_ = way;
  turn_.clear();
  runs_ = 0;
}

void StepChoice::runs_with(const KernelVariant& kernel) {
  std::optional<KernelVariant>& timed = kernel_[converted() ? 1 : 0];
  const bool another = timed && !same(*timed, kernel);
  timed = kernel;
  if (!another) return;
  race_.restart();
  over_ = never_;
  take(way(converted(), !allowed_[way(converted(), false)]));
}

// Beside steps apart in CSR.
double StepChoice::allowed_us() const {
  const double left = std::min(outlook_.low, outlook_.announced);
  return kLostByFusing * us_of(way(false, false)) * (steps_ + left) - behind_us_;
}

void StepChoice::took(double microseconds) {
  ++steps_;
  const double apart_us = us_of(way(false, false));
  // Steps apart in CSR cost nothing, and who has won what it took in the race.
  if (apart_us > 0 && way_ != way(false, false))
    behind_us_ += (over_ ? us_of(way_) : microseconds) - apart_us;
  // A turn that costs more than may be lost ends.
  if (fused() && !always_ && allowed_[way(converted(), false)] && race_.counted(way_) < kTurns &&
      microseconds > apart_us && allowed_us() < 0)
    return take(way(converted(), false));
  turn_.add(std::chrono::round<Nanoseconds>(Microseconds(microseconds)));
  if (++runs_ < kStepRuns) return;
  race_.add(way_, turn_.median());
  take(way_);
}

void StepChoice::refuse() {
  allowed_[way(converted(), true)] = false;
  take(way(converted(), false));
}

bool StepChoice::distrust() {
  if (!std::exchange(tried_, false)) return false;
  allowed_[way(false, true)] = allowed_[way(true, true)] = false;
  take(way(converted(), false));
  return true;
}

bool StepChoice::fusing_pays(double price_us) const {
  const std::size_t fastest = race_.best();
  const double least_us = fastest < kWays ? us_of(fastest) : 0;
  if (!allowed_[way(false, false)]) return true;
  if (always_) return us_of(way(false, false)) > 0;  // beside which it is booked
  return outlook_.low * kHopedOfFusing * least_us >= price_us &&
         price_us + kStepRuns * kHopedOfFusing * least_us <= allowed_us();
}

void StepChoice::look_ahead(const Outlook& outlook, double price_us, bool other_format) {
  outlook_ = outlook;
  if (other_format != other_) {
    other_ = other_format;
    over_ = never_;
    take(way(other_, !allowed_[way(other_, false)]));
  }
  if (over_ || (allowed_[way_] && (runs_ > 0 || race_.runs(way_) == 0))) return;
  const bool pays = fusing_pays(price_us);
  bool all = true;  // that can be had are in the race
  for (std::size_t i = 0; i < kWays; ++i) {
    const bool there = allowed_[i] && (other_ || i >= way(false, false));
    const bool in = there && (i % 2 == 0 || pays || race_.counted(i) >= kTurns);
    in ? race_.enter(i) : race_.leave(i);
    all = all && in == there;
  }
  const bool over = race_.over();
  const std::size_t next = over ? race_.best() : race_.next();
  if (next < kWays) take(next);
  over_ = over && (all || (other_ && !converted()));
}

}  // namespace idletune::krylov
