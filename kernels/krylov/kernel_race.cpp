#include "kernels/krylov/kernel_race.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace idletune::krylov {
namespace {

constexpr double kHopelesslySlow = 1.5;  // times the best: not run again
constexpr double kSharingIsSlow = 2;     // times the best: rows are not shared by work items again

}  // namespace

double median_of(float* values, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t k = i; k > 0 && values[k] < values[k - 1]; --k)
      std::swap(values[k], values[k - 1]);
  }
  return count == 0 ? 0 : static_cast<double>(values[(count - 1) / 2]);
}

double KernelRace::Entrant::median() const {
  Entrant sorted = *this;
  return median_of(sorted.us, counted);
}

double KernelRace::Entrant::slowest() const {
  return static_cast<double>(*std::max_element(us, us + counted));
}

void KernelRace::begin(const std::vector<KernelVariant>& variants) {
  *this = KernelRace();
  for (const KernelVariant& variant : variants) entrants_.push_back({variant});
}

const KernelVariant& KernelRace::current() const {
  if (!running()) return best();
  return entrants_[at_ < entrants_.size() ? at_ : finalists_[turns_ % finalist_count_]].variant;
}

void KernelRace::took(double microseconds) {
  const bool finals = at_ >= entrants_.size();
  if (!finals && ++runs_ == 1) return;
  Entrant& entrant = entrants_[finals ? finalists_[turns_ % finalist_count_] : at_];
  entrant.us[entrant.counted++ % std::size(entrant.us)] = static_cast<float>(microseconds);
  if (finals) {
    if (--turns_ == 0) choose_best();
    return;
  }
  const Entrant& best = entrants_[best_];  // may have been lucky once
  const bool hopeless = best_us_ > 0 && entrant.median() > kHopelesslySlow * best.slowest();
  if (runs_ < kRuns && !hopeless) return;
  if (best_us_ == 0 || entrant.median() < best_us_) {
    best_us_ = entrant.median();
    best_ = at_;
  }
  if (entrant.variant.kind != 0 && entrant.median() > kSharingIsSlow * best_us_) stop_sharing();
  end_of_entrant();
}

// Among the finalists.
void KernelRace::choose_best() {
  best_ = finalists_[0];
  for (std::uint32_t i = 1; i < finalist_count_; ++i) {
    if (entrants_[finalists_[i]].median() < entrants_[best_].median()) best_ = finalists_[i];
  }
  best_us_ = entrants_[best_].median();
}

void KernelRace::failed() { end_of_entrant(); }

void KernelRace::stop_sharing() {
  const auto later = entrants_.begin() + static_cast<std::ptrdiff_t>(at_) + 1;
  entrants_.erase(std::remove_if(later, entrants_.end(),
                                 [](const Entrant& each) { return each.variant.kind != 0; }),
                  entrants_.end());
}

void KernelRace::follow(const std::vector<KernelVariant>& next) {
  entrants_.resize(at_);
  for (const KernelVariant& variant : next) {
    bool ran = false;
    for (const Entrant& entrant : entrants_) ran = ran || same(entrant.variant, variant);
    if (!ran) entrants_.push_back({variant});
  }
}

void KernelRace::end_of_entrant() {
  ++at_;
  runs_ = 0;
  paused_ = true;
  if (at_ >= entrants_.size()) begin_finals();
}

void KernelRace::begin_finals() {
  finalist_count_ = 0;
  for (std::size_t i = 0; i < entrants_.size(); ++i) {
    if (entrants_[i].counted < kRuns - 1 || entrants_[i].counted >= kRuns - 1 + kFinalRuns)
      continue;
    std::size_t place = std::min<std::size_t>(finalist_count_, kFinalists);
    for (; place > 0 && entrants_[i].median() < entrants_[finalists_[place - 1]].median();
         --place) {
      if (place < kFinalists) finalists_[place] = finalists_[place - 1];
    }
    if (place < kFinalists) finalists_[place] = i;
    if (finalist_count_ < kFinalists) ++finalist_count_;
  }
  if (finalist_count_ < 2) return;
  turns_ = kFinalRuns * finalist_count_;
  paused_ = false;
}

}  // namespace idletune::krylov
