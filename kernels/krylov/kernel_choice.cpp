#include "kernels/krylov/kernel_choice.hpp"

#include <algorithm>
#include <utility>

namespace idletune::krylov {
namespace {

constexpr double kHopelesslySlow = 2;  // times the best: not run again
constexpr double kHopelessAlone = 3;   // the same of one product, which may have waited long
constexpr double kSharingIsSlow = 2;   // times the best: rows are not shared by work items again
constexpr double kRowUs = 100;         // that products in a row take at least
constexpr double kMostRowUs = 400;     // of the first kernel, by one product alone
constexpr std::uint32_t kFirstRow = 4;
constexpr std::uint32_t kMostInARow = 16;
constexpr std::uint32_t kTimesAgain = 3;

Race::Policy policy() {
  Race::Policy policy;
  policy.uncounted = 2;  // the first, and one alone
  policy.heat = 1;
  policy.finalists = 5;
  policy.halving = 2;
  policy.most_runs = 50;
  policy.hopeless = kHopelesslySlow;
  return policy;
}

}  // namespace

void KernelChoice::begin(const std::vector<KernelVariant>& variants, std::uint32_t in_a_row) {
  *this = KernelChoice();
  race_ = Race(policy());
  finds_row_ = in_a_row == 0 && variants.size() > 1;
  row_ = std::max(in_a_row, 1u);
  for (const KernelVariant& variant : variants) {
    if (race_.join() != Race::kNobody) variants_.push_back(variant);
  }
  note();
}

void KernelChoice::again(const KernelChoice& other) {
  begin({other.best()}, other.usual_row());
  least_counted_ = kTimesAgain;
  race_.ran(0);
}

// Who looks better does not take over before it was: but at the end all have run in turns.
void KernelChoice::note(bool takes_over) {
  const std::size_t best = race_.best() == Race::kNobody ? 0 : race_.best();
  over_ = race_.over() && race_.counted(best) >= least_counted_;
  if (takes_over || over_ || !race_.is_in(best_)) best_ = best;
}

std::uint32_t KernelChoice::in_a_row() const {
  if (runs_of_next() < 2) return 1;
  // Another race's row may be far too long for this format.
  const bool first = !finds_row_ && race_.next() == 0 && race_.counted(0) == 0;
  const double most = first ? kMostRowUs / first_alone_us_ + 1 : kMostInARow;
  return most < row_ ? static_cast<std::uint32_t>(most) : row_;
}

double KernelChoice::extra_us() const {
  const double row = best_us() * (row_ - 1);
  if (in_finals()) return row * static_cast<double>(race_.field().left);
  return 2 * best_us() + (race_.next() == 0 ? 2 * kRowUs : row);
}

void KernelChoice::took(double microseconds) {
  const auto time = std::chrono::round<Nanoseconds>(Microseconds(microseconds));
  const std::size_t kernel = next();
  const bool confirms = challenger_us_ > 0;
  if (confirms) {
    race_.ran(kernel);
    race_.add_out_of_turn(kernel, time);
  } else {
    const std::uint32_t runs = race_.runs(kernel);
    if (runs > 1 && !fills_row(microseconds)) return race_.ran(kernel);
    race_.add(kernel, time);
    if (runs == 1) return ran_alone(kernel, microseconds);
    if (runs == 0) return;
    if (kernel != best_ && kernel == race_.best() && best_us() > 0) {
      challenger_us_ = microseconds;
      return;
    }
    if (variants_[kernel].kind != 0 && microseconds > kSharingIsSlow * best_us()) stop_sharing();
  }
  for (std::size_t out = race_.loser(); out != Race::kNobody; out = race_.loser()) race_.leave(out);
  note(confirms && std::exchange(challenger_us_, 0) < microseconds);
  const Race::Field field = race_.field();
  paused_ = field.rounds == 0 || field.due == field.left;
}

// Of the first kernel: whether several in a row are needed. Not before the race goes on, since
// they are not due.
bool KernelChoice::fills_row(double microseconds) {
  if (!finds_row_) return true;
  finds_row_ = false;
  const std::uint32_t tried = row_;
  row_ = static_cast<std::uint32_t>(std::min(kRowUs / microseconds + 1, double{kMostInARow}));
  return row_ <= tried;
}

void KernelChoice::ran_alone(std::size_t kernel, double microseconds) {
  if (kernel == 0) {
    first_alone_us_ = least_alone_us_ = microseconds;
    paused_ = finds_row_ = finds_row_ && microseconds < kRowUs;
    if (finds_row_) row_ = kFirstRow;
    return;
  }
  const bool hopeless = microseconds > kHopelessAlone * least_alone_us_;
  least_alone_us_ = std::min(least_alone_us_, microseconds);
  if (!hopeless) return;
  if (variants_[kernel].kind != 0) stop_sharing();
  failed();
}

void KernelChoice::failed() {
  const std::size_t kernel = race_.next();
  if (first_alone_us_ == 0) {  // whoever is next is the first one
    std::vector<KernelVariant> others = std::move(variants_);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(kernel));
    return begin(others, finds_row_ ? 0 : row_);
  }
  race_.ran(kernel);  // no model brings it back
  race_.leave(kernel);
  note();
  paused_ = true;
}

void KernelChoice::stop_sharing() {
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    if (race_.runs(i) == 0 && variants_[i].kind != 0) race_.leave(i);
  }
}

void KernelChoice::follow(const std::vector<KernelVariant>& next) {
  race_.reopen();
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    if (race_.runs(i) == 0) race_.leave(i);
  }
  for (const KernelVariant& variant : next) {
    std::size_t i = 0;
    while (i < variants_.size() && !same(variants_[i], variant)) ++i;
    if (i == variants_.size() && race_.join() == i) variants_.push_back(variant);
    if (i < variants_.size() && race_.runs(i) == 0) race_.enter(i);
  }
  note();
}

}  // namespace idletune::krylov
