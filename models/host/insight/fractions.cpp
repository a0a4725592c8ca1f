#include "models/host/insight/fractions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/core/median.hpp"
#include "models/host/insight/space_overlap.hpp"

namespace idletune {

std::uint64_t PerformanceDistribution::count_at_least(double q) const {
  return static_cast<std::uint64_t>(sorted.end() -
                                    std::lower_bound(sorted.begin(), sorted.end(), q));
}

double PerformanceDistribution::fraction(double q) const {
  return valid == 0 ? 0 : static_cast<double>(count_at_least(q)) / static_cast<double>(valid);
}

std::array<double, 2> PerformanceDistribution::interval(double q) const {
  const double p = fraction(q);
  if (!is_sample()) return {p, p};
  if (valid == 0) return {0, 1};
  constexpr double kZ = 1.959963984540054;  // 97.5 % point of the normal distribution
  const double n = static_cast<double>(valid);
  const double centre = (p + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half = kZ / (1 + kZ * kZ / n) * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

double PerformanceDistribution::better_share_bound(double risk) const {
  if (!is_sample() || valid == 0) return valid == 0 ? 1 : 0;
  return 1 - std::pow(risk, 1 / static_cast<double>(valid));
}

PerformanceDistribution distribution_of(const History& history, std::uint64_t assumed_failed) {
  PerformanceDistribution result;
  const double best = history.best_time_ns();
  const CellColumn* proposals = history.proposals();
  std::vector<double> run_times;
  std::vector<double> compile_times;
  for (const std::size_t row : history.valid_rows()) {
    if (!drawn_uniformly(proposals, row)) continue;
    ++result.measured;
    if (std::isfinite(history.compile_time[row]))
      compile_times.push_back(history.compile_time_ns(row));
    if (!history.correct(row)) {
      result.sorted.push_back(0);
      continue;
    }
    run_times.push_back(history.run_time_ns(row));
    result.sorted.push_back(best / history.run_time_ns(row));
  }
  result.sorted.insert(result.sorted.end(), static_cast<std::size_t>(assumed_failed), 0.0);
  std::sort(result.sorted.begin(), result.sorted.end());
  result.valid = result.sorted.size();
  result.space = std::max(result.valid, std::min(history.valid_count, kUnknownSize));
  result.best_ns = std::isfinite(best) ? best : 0;
  result.median_run_ns = median_of(std::move(run_times));
  result.median_compile_ns = median_of(std::move(compile_times));
  return result;
}

std::vector<std::unordered_set<std::uint64_t>> dropped_failures(
    const std::vector<const History*>& histories) {
  std::vector<ConfigurationSet> sets;
  sets.reserve(histories.size());
  for (const History* history : histories) sets.emplace_back(*history);
  std::vector<std::unordered_set<std::uint64_t>> dropped;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    std::unordered_set<std::uint64_t> missing;
    for (std::size_t j = 0; j < histories.size(); ++j) {
      if (i != j && is_whole(*histories[i]) && is_whole(*histories[j]) &&
          same_kernel(*histories[i], *histories[j]) && nearly_equal(sets[i], sets[j]))
        missing.insert(sets[j].keys().begin(), sets[j].keys().end());
    }
    const RowKeys own(*histories[i]);
    for (std::size_t row = 0; row < histories[i]->rows(); ++row) missing.erase(own.key(row));
    dropped.push_back(std::move(missing));
  }
  return dropped;
}

}  // namespace idletune
