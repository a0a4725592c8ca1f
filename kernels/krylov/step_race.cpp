#include "kernels/krylov/step_race.hpp"

#include <iterator>

#include "kernels/krylov/kernel_race.hpp"

namespace idletune::krylov {
namespace {

constexpr std::uint32_t kStepRuns = 17;  // the first is not counted
constexpr double kHopedOfFusing = 0.25;  // of fused steps, as a share of a step's time

double lower(double a, double b) { return a == 0 || (b > 0 && b < a) ? b : a; }

}  // namespace

bool StepRace::Way::measured() const { return runs >= kStepRuns; }

double StepRace::Way::median() const {
  if (!measured() || !allowed) return 0;
  Way sorted = *this;
  return median_of(sorted.last, std::size(last));
}

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

void StepRace::took(double microseconds) {
  Way& now = way(converted_, fused_);
  now.last[now.runs++ % std::size(now.last)] = static_cast<float>(microseconds);
}

void StepRace::refuse() {
  way(converted_, true).allowed = false;
  fused_ = false;
}

// Takes a way that was not measured; false: there is none that pays.
bool StepRace::try_next(double iterations_left, double price_us) {
  const bool pays =
      always_ || !ways_[0][0].allowed || iterations_left * kHopedOfFusing * best_us() >= price_us;
  for (const bool converted : {converted_, !converted_}) {
    for (const bool fused : {false, true}) {
      const Way& next = way(converted, fused);
      if (!there(converted) || !next.allowed || next.measured()) continue;
      if (fused && !pays) continue;
      converted_ = converted;
      fused_ = fused;
      return true;
    }
  }
  return false;
}

void StepRace::look_ahead(double iterations_left, double price_us, bool other_format) {
  if (other_format != other_) {
    other_ = converted_ = other_format;
    fused_ = !way(converted_, false).allowed;
    over_ = never_;
  }
  if (over_ || (way(converted_, fused_).allowed && !way(converted_, fused_).measured())) return;
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
