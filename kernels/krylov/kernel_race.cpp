#include "kernels/krylov/kernel_race.hpp"

#include <utility>

namespace idletune::krylov {
namespace {

constexpr std::uint32_t kRuns = 4;       // the first is not counted
constexpr double kHopelesslySlow = 1.5;  // times the best: not run again

}  // namespace

void KernelRace::begin(std::vector<KernelVariant> variants) {
  entrants_ = std::move(variants);
  at_ = 0;
  best_ = 0;
  runs_ = 0;
  best_us_ = 0;
  paused_ = false;
}

void KernelRace::took(double microseconds) {
  if (++runs_ == 1) return;
  if (runs_ == 2 || microseconds < current_us_) current_us_ = microseconds;
  const bool hopeless = best_us_ > 0 && current_us_ > kHopelesslySlow * best_us_;
  if (runs_ < kRuns && !hopeless) return;
  if (best_us_ == 0 || current_us_ < best_us_) {
    best_us_ = current_us_;
    best_ = at_;
  }
  end_of_entrant();
}

void KernelRace::failed() { end_of_entrant(); }

void KernelRace::follow(const std::vector<KernelVariant>& next) {
  entrants_.resize(at_);
  for (const KernelVariant& variant : next) {
    bool ran = false;
    for (std::size_t i = 0; i < at_; ++i) {
      ran = ran ||
            (entrants_[i].kind == variant.kind && entrants_[i].work_group == variant.work_group);
    }
    if (!ran) entrants_.push_back(variant);
  }
}

void KernelRace::end_of_entrant() {
  ++at_;
  runs_ = 0;
  paused_ = true;
}

}  // namespace idletune::krylov
