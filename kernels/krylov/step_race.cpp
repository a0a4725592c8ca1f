#include "kernels/krylov/step_race.hpp"

#include <iterator>

#include "kernels/krylov/kernel_race.hpp"

namespace idletune::krylov {
namespace {

constexpr std::uint32_t kStepRuns = 17;  // of a turn; the first is not counted
constexpr std::uint32_t kTurns = 3;      // of each way
constexpr double kHopedOfFusing = 0.25;  // of fused steps, as a share of a step's time

double lower(double a, double b) { return a == 0 || (b > 0 && b < a) ? b : a; }

}  // namespace

void StepRace::Way::took(double microseconds) {
  if (runs++ > 0) us[runs - 2] = static_cast<float>(microseconds);
  if (runs < kStepRuns) return;
  best_us = lower(best_us, median_of(us, std::size(us)));
  runs = 0;
  ++turns;
}

bool StepRace::Way::measured() const { return turns >= kTurns; }

double StepRace::Way::median() const { return measured() && allowed ? best_us : 0; }

StepRace::StepRace(const SolverOptions& options)
    : fused_(options.steps == Steps::fused),
      always_(options.choosing == Choosing::always),
      never_(options.choosing == Choosing::none),
      over_(never_) {
  for (auto& format : ways_) {
    format[0].allowed = options.steps != Steps::fused;
    format[1].allowed = options.steps != Steps::apart;
  }
}

double StepRace::best_us(bool converted) const {
  const auto& format = ways_[converted ? 1 : 0];
  return lower(format[0].median(), format[1].median());
}

double StepRace::best_us() const {
  return other_ ? lower(best_us(false), best_us(true)) : best_us(false);
}

void StepRace::took(double microseconds) { way(converted_, fused_).took(microseconds); }

void StepRace::refuse() {
  way(converted_, true).allowed = false;
  fused_ = false;
}

// Takes the way that has had the fewest turns and is due more; false: there is none that pays.
bool StepRace::try_next(double iterations_left, double price_us) {
  double least_us = 0;
  for (const auto& format : ways_) {
    for (const Way& way : format) least_us = lower(least_us, way.best_us);
  }
  const bool pays =
      always_ || !ways_[0][0].allowed || iterations_left * kHopedOfFusing * least_us >= price_us;
  std::uint32_t fewest = kTurns;
  for (const bool converted : {other_, false}) {
    for (const bool fused : {false, true}) {
      const Way& next = way(converted, fused);
      if (!next.allowed || next.turns >= fewest || (fused && !pays)) continue;
      fewest = next.turns;
      converted_ = converted;
      fused_ = fused;
    }
  }
  return fewest < kTurns;
}

void StepRace::look_ahead(double iterations_left, double price_us, bool other_format) {
  if (other_format != other_) {
    other_ = converted_ = other_format;
    fused_ = !way(converted_, false).allowed;
    over_ = never_;
  }
  if (over_ || way(converted_, fused_).in_turn()) return;
  if (try_next(iterations_left, price_us)) return;
  const double best = best_us();
  over_ = true;
  for (const bool converted : {false, true}) {
    for (const bool fused : {false, true}) {
      const Way& known = way(converted, fused);
      if (!there(converted) || !known.allowed) continue;
      if (!known.measured()) over_ = false;
      if (known.median() != best) continue;
      converted_ = converted;
      fused_ = fused;
    }
  }
  over_ = over_ || (other_ && !converted_);
}

}  // namespace idletune::krylov
