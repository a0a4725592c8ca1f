#include "kernels/krylov/step_race.hpp"

#include <algorithm>
#include <iterator>

namespace idletune::krylov {
namespace {

constexpr std::uint32_t kStepRuns = 5;   // the first is not counted
constexpr double kHopedOfFusing = 0.25;  // of fused steps, as a share of a step's time

}  // namespace

double StepRace::fastest() const { return *std::min_element(std::begin(last_), std::end(last_)); }

void StepRace::took(double microseconds) {
  if (over_) return;
  last_[runs_++ % std::size(last_)] = microseconds;
  if (!fused_ || runs_ < kStepRuns) return;
  fused_ = fastest() < apart_us_;
  over_ = true;
}

void StepRace::refuse() {
  fused_ = false;
  over_ = true;
}

void StepRace::look_ahead(double iterations_left, double price_us) {
  if (over_ || fused_ || runs_ < kStepRuns) return;
  apart_us_ = fastest();
  if (!always_ && iterations_left * kHopedOfFusing * apart_us_ < price_us) return;
  fused_ = true;
  runs_ = 0;
}

}  // namespace idletune::krylov
