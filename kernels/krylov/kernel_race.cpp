#include "kernels/krylov/kernel_race.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace idletune::krylov {
namespace {

constexpr double kHopelesslySlow = 1.5;  // times the best: not run again
constexpr double kHopelessSecond = 2;    // the same of the second one
constexpr double kHopelessAlone = 3;     // the same of one product, which may have waited long
constexpr double kSharingIsSlow = 2;     // times the best: rows are not shared by work items again
constexpr double kRowUs = 100;           // that products in a row take at least
constexpr std::uint32_t kFirstRow = 4;
constexpr std::uint32_t kMostInARow = 16;
constexpr std::uint32_t kRoundsToHalve = 2;  // after which the slower half of the finalists leaves

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
  return median_of(sorted.us, std::min<std::size_t>(counted, std::size(us)));
}

void KernelRace::Entrant::count(double microseconds) {
  us[counted++ % std::size(us)] = static_cast<float>(microseconds);
}

void KernelRace::begin(const std::vector<KernelVariant>& variants, std::uint32_t in_a_row) {
  *this = KernelRace();
  finds_row_ = in_a_row == 0 && variants.size() > 1;
  row_ = std::max(in_a_row, 1u);
  for (const KernelVariant& variant : variants) entrants_.push_back({variant});
}

const KernelVariant& KernelRace::current() const {
  if (!running()) return best();
  return entrants_[finals_ ? finalists_[turn_] : at_].variant;
}

double KernelRace::first_us() const {
  return entrants_[0].counted > 0 ? entrants_[0].median() : first_alone_us_;
}

double KernelRace::extra_us() const {
  const double row = best_us_ * (row_ - 1);
  if (!finals_) return 2 * best_us_ + (at_ == 0 ? 2 * kRowUs : row);
  return row * finalist_count_;
}

void KernelRace::took(double microseconds) {
  ++products_;
  if (finals_) return ran_in_finals(microseconds);
  if (++runs_ == 1) return;
  if (runs_ == 2) return ran_alone(microseconds);
  ran_in_a_row(microseconds);
}

// Says what is hopeless, and of the first kernel whether several in a row are needed: not before
// the race goes on, since they are not due.
void KernelRace::ran_alone(double microseconds) {
  if (at_ == 0) {
    best_us_ = first_alone_us_ = least_alone_us_ = microseconds;
    paused_ = finds_row_ = finds_row_ && microseconds < kRowUs;
    if (finds_row_) row_ = kFirstRow;
    return;
  }
  const bool hopeless = microseconds > kHopelessAlone * least_alone_us_;
  least_alone_us_ = std::min(least_alone_us_, microseconds);
  if (!hopeless) return;
  if (entrants_[at_].variant.kind != 0) stop_sharing();
  end_of_entrant();
}

void KernelRace::ran_in_a_row(double microseconds) {
  if (finds_row_) {
    finds_row_ = false;
    const std::uint32_t tried = row_;
    row_ = static_cast<std::uint32_t>(std::min(kRowUs / microseconds + 1, double{kMostInARow}));
    if (row_ > tried) return;
  }
  Entrant& entrant = entrants_[at_];
  entrant.count(microseconds);
  if (at_ == 0 || microseconds < best_us_) {
    best_us_ = microseconds;
    best_ = at_;
  }
  if (entrant.variant.kind != 0 && microseconds > kSharingIsSlow * best_us_) stop_sharing();
  end_of_entrant();
}

// By their medians, the best one first.
void KernelRace::sort_finalists() {
  for (std::size_t i = 1; i < finalist_count_; ++i) {
    for (std::size_t k = i;
         k > 0 && entrants_[finalists_[k]].median() < entrants_[finalists_[k - 1]].median(); --k)
      std::swap(finalists_[k], finalists_[k - 1]);
  }
}

void KernelRace::ran_in_finals(double microseconds) {
  entrants_[finalists_[turn_]].count(microseconds);
  if (++turn_ < finalist_count_) return;
  turn_ = 0;
  sort_finalists();
  if (++rounds_ == kRoundsToHalve && finalist_count_ > 2) {
    finalist_count_ = (finalist_count_ + 1) / 2;
    rounds_ = 0;
  }
  best_ = finalists_[0];
  best_us_ = entrants_[best_].median();
  paused_ = true;
  finals_ = products_ + finalist_count_ <= kMostProducts;
}

void KernelRace::failed() { end_of_entrant(); }

void KernelRace::stop_sharing() {
  const auto later = entrants_.begin() + static_cast<std::ptrdiff_t>(at_) + 1;
  entrants_.erase(std::remove_if(later, entrants_.end(),
                                 [](const Entrant& each) { return each.variant.kind != 0; }),
                  entrants_.end());
}

void KernelRace::follow(const std::vector<KernelVariant>& next) {
  entrants_.resize(at_ + (runs_ > 0 ? 1 : 0));
  finals_ = false;
  products_ = 0;
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
    const double median = entrants_[i].median();
    if (entrants_[i].counted == 0) continue;
    std::size_t place = std::min<std::size_t>(finalist_count_, kFinalists);
    for (; place > 0 && median < entrants_[finalists_[place - 1]].median(); --place) {
      if (place < kFinalists) finalists_[place] = finalists_[place - 1];
    }
    if (place < kFinalists) finalists_[place] = i;
    if (finalist_count_ < kFinalists) ++finalist_count_;
  }
  for (; finalist_count_ > 1; --finalist_count_) {
    const double last = entrants_[finalists_[finalist_count_ - 1]].median();
    const bool others = finalist_count_ > 2;  // the best one may have been lucky
    const double factor = others ? kHopelesslySlow : kHopelessSecond;
    if (last <= factor * entrants_[finalists_[others ? 1 : 0]].median()) break;
  }
  turn_ = rounds_ = 0;
  finals_ = finalist_count_ > 1 && products_ + finalist_count_ <= kMostProducts;
}

}  // namespace idletune::krylov
