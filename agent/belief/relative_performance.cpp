#include "agent/belief/relative_performance.hpp"

#include <algorithm>
#include <cmath>

namespace idletune {
namespace {

struct Knot {
  double level;
  double q;
};
constexpr Knot kPrior[] = {
    {0, 0.006},    {0.05, 0.08},  {0.1, 0.158},   {0.2, 0.22},    {0.3, 0.285},   {0.4, 0.331},
    {0.5, 0.402},  {0.6, 0.458},  {0.7, 0.489},   {0.8, 0.535},   {0.9, 0.642},   {0.95, 0.719},
    {0.98, 0.821}, {0.99, 0.854}, {0.995, 0.895}, {0.998, 0.947}, {0.999, 0.975}, {1, 1}};

// Room for the end points and the knot of a known fraction.
constexpr std::size_t kMaxGiven = RelativePerformance::kMaxKnots - 4;
constexpr double kSmallest = 0.001;

double log_of(Nanoseconds time) { return std::log(static_cast<double>(time.count())); }

}  // namespace

void RelativePerformance::add(double level, double q) {
  if (std::isnan(level) || std::isnan(q) || size_ == kMaxKnots) return;
  level = std::clamp(level, 0.0, 1.0);
  q = std::clamp(q, 0.0, 1.0);
  if (size_ > 0) {
    level = std::max(level, levels_[size_ - 1]);
    q = std::max(q, q_[size_ - 1]);
  }
  levels_[size_] = level;
  q_[size_] = q;
  ++size_;
}

void RelativePerformance::close() {
  if (size_ == 0) return;
  levels_[0] = 0;
  if (levels_[size_ - 1] < 1) add(1, q_[size_ - 1]);
}

RelativePerformance RelativePerformance::prior() {
  RelativePerformance result;
  for (const Knot& knot : kPrior) result.add(knot.level, knot.q);
  return result;
}

RelativePerformance RelativePerformance::from_quantiles(Span<const float> quantiles,
                                                        Span<const float> levels) {
  RelativePerformance result;
  const std::size_t n = quantiles.size();
  if (n < 2) return prior();
  const std::size_t taken = std::min(n, kMaxGiven);
  for (std::size_t i = 0; i < taken; ++i) {
    const std::size_t from = i * (n - 1) / (taken - 1);
    const double even = static_cast<double>(from) / static_cast<double>(n - 1);
    const double level = levels.size() == n ? static_cast<double>(levels[from]) : even;
    result.add(level, static_cast<double>(quantiles[from]));
  }
  result.close();
  if (result.size_ < 2 || result.q_[result.size_ - 1] <= 0) return prior();
  return result;
}

double RelativePerformance::quantile(double level) const {
  std::size_t i = 1;
  while (i + 1 < size_ && levels_[i] <= level) ++i;
  const double width = levels_[i] - levels_[i - 1];
  const double part = width > 0 ? std::clamp((level - levels_[i - 1]) / width, 0.0, 1.0) : 1.0;
  return q_[i - 1] + part * (q_[i] - q_[i - 1]);
}

double RelativePerformance::failed_share() const {
  double failed = 0;
  for (std::size_t i = 0; i < size_ && q_[i] <= 0; ++i) failed = levels_[i];
  return failed;
}

double RelativePerformance::correct_quantile(double level) const {
  const double failed = failed_share();
  return std::max(kSmallest, quantile(failed + level * (1.0 - failed)));
}

double RelativePerformance::log_deviation() const {
  double mass = 0;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i + 1 < size_; ++i) {
    if (bin_value(i) <= 0) continue;
    const double value = std::log(std::max(kSmallest, bin_value(i)));
    mass += bin_mass(i);
    sum += bin_mass(i) * value;
    squares += bin_mass(i) * value * value;
  }
  if (!(mass > 0)) return 0;
  return std::sqrt(std::max(0.0, squares / mass - (sum / mass) * (sum / mass)));
}

double RelativePerformance::share_at_least(double ratio) const {
  if (size_ == 0 || q_[size_ - 1] < ratio) return 0;
  std::size_t i = 0;
  while (q_[i] < ratio) ++i;
  if (i == 0) return 1;
  const double part = (ratio - q_[i - 1]) / (q_[i] - q_[i - 1]);
  return 1.0 - (levels_[i - 1] + part * (levels_[i] - levels_[i - 1]));
}

void RelativePerformance::stretch_to(const UniformDraws& draws) {
  const Span<const Nanoseconds> times = draws.times();
  const std::size_t n = times.size();
  if (n < 6) return;
  // The faster half only: slow outliers and disturbed runs say nothing about the fast end.
  const std::size_t fast = n / 8;
  const std::size_t middle = n / 2;
  const auto level = [n](std::size_t i) {
    return 1.0 - (static_cast<double>(i) + 0.5) / static_cast<double>(n);
  };
  const double here = log_of(times[middle]) - log_of(times[fast]);
  const double there =
      std::log(correct_quantile(level(fast))) - std::log(correct_quantile(level(middle)));
  if (!(there > 0)) return;
  const double weight = static_cast<double>(draws.correct()) / (draws.correct() + 10.0);
  const double exponent = std::pow(std::clamp(here / there, 0.05, 4.0), weight);
  for (std::size_t i = 0; i < size_; ++i) q_[i] = std::pow(q_[i], exponent);
}

void RelativePerformance::set_share_at_least(double ratio, double share) {
  if (std::isnan(ratio) || std::isnan(share) || size_ == 0) return;
  ratio = std::clamp(ratio, 0.0, 1.0);
  share = std::clamp(share, 0.0, 1.0);
  const double old_share = share_at_least(ratio);
  const double old_level = 1.0 - old_share;
  const double new_level = 1.0 - share;
  RelativePerformance result;
  bool inserted = false;
  for (std::size_t i = 0; i < size_; ++i) {
    if (q_[i] >= ratio && !inserted) {
      result.add(new_level, ratio);
      inserted = true;
    }
    const double level = q_[i] < ratio
                             ? (old_level > 0 ? levels_[i] * new_level / old_level : 0)
                             : (old_share > 0 ? 1.0 - (1.0 - levels_[i]) * share / old_share : 1.0);
    result.add(level, q_[i]);
  }
  if (!inserted) {
    result.add(new_level, ratio);
    result.add(1, 1);
  }
  result.close();
  *this = result;
}

void RelativePerformance::refine() {
  if (size_ < 2) return;
  const std::size_t parts = (kMaxKnots - 1) / (size_ - 1);
  RelativePerformance result;
  for (std::size_t i = 0; i + 1 < size_; ++i) {
    for (std::size_t part = 0; part < parts; ++part) {
      const double share = static_cast<double>(part) / static_cast<double>(parts);
      result.add(levels_[i] + share * (levels_[i + 1] - levels_[i]),
                 q_[i] + share * (q_[i + 1] - q_[i]));
    }
  }
  result.add(levels_[size_ - 1], q_[size_ - 1]);
  *this = result;
}

}  // namespace idletune
