#include "models/insight/fractions.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "models/core/digest.hpp"

namespace idletune {

namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Parameters in the order of their names, so that histories which list them differently compare.
std::vector<const CellColumn*> by_name(const History& history) {
  std::vector<const CellColumn*> columns;
  for (const CellColumn& column : history.parameters) columns.push_back(&column);
  std::sort(columns.begin(), columns.end(),
            [](const CellColumn* a, const CellColumn* b) { return a->name() < b->name(); });
  return columns;
}

bool comparable(const History& a, const History& b) {
  if (a.kernel != b.kernel || a.shape != b.shape || a.parameters.size() != b.parameters.size()) return false;
  const auto names_a = by_name(a);
  const auto names_b = by_name(b);
  return std::equal(names_a.begin(), names_a.end(), names_b.begin(),
                    [](const CellColumn* x, const CellColumn* y) { return x->name() == y->name(); });
}

using KeySet = std::unordered_set<std::uint64_t>;

KeySet keys_of(const History& history) {
  KeySet keys;
  const auto columns = by_name(history);
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.status[row] == TrialStatus::constraints) continue;
    Digest digest;
    for (const CellColumn* column : columns) digest.add_signed(column->code(row));
    keys.insert(digest.value());
  }
  return keys;
}

std::size_t overlap(const KeySet& a, const KeySet& b) {
  const KeySet& smaller = a.size() < b.size() ? a : b;
  const KeySet& larger = a.size() < b.size() ? b : a;
  return static_cast<std::size_t>(std::count_if(smaller.begin(), smaller.end(),
                                                [&](std::uint64_t key) { return larger.count(key) != 0; }));
}

}  // namespace

std::uint64_t PerformanceDistribution::count_at_least(double q) const {
  return static_cast<std::uint64_t>(sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), q));
}

double PerformanceDistribution::fraction(double q) const {
  return valid == 0 ? 0 : static_cast<double>(count_at_least(q)) / static_cast<double>(valid);
}

std::array<double, 2> PerformanceDistribution::interval(double q) const {
  const double p = fraction(q);
  if (!is_sample() || valid == 0) return {p, p};
  constexpr double kZ = 1.959963984540054;  // 97.5 % point of the normal distribution
  const double n = static_cast<double>(valid);
  const double centre = (p + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half = kZ / (1 + kZ * kZ / n) * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

PerformanceDistribution distribution_of(const History& history, std::uint64_t assumed_failed) {
  PerformanceDistribution result;
  const double best = history.best_time_ns();
  std::vector<double> run_times;
  std::vector<double> compile_times;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.status[row] == TrialStatus::constraints) continue;
    ++result.measured;
    if (std::isfinite(history.compile_time[row])) compile_times.push_back(history.compile_time_ns(row));
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
  result.space = std::max(result.valid, history.valid_count);
  result.best_ns = std::isfinite(best) ? best : 0;
  result.median_run_ns = median(std::move(run_times));
  result.median_compile_ns = median(std::move(compile_times));
  return result;
}

std::vector<std::uint64_t> dropped_failures(const std::vector<const History*>& histories) {
  std::vector<KeySet> keys;
  for (const History* history : histories) keys.push_back(keys_of(*history));
  std::vector<std::uint64_t> dropped;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    KeySet all = keys[i];
    for (std::size_t j = 0; j < histories.size(); ++j) {
      if (i == j || !comparable(*histories[i], *histories[j])) continue;
      const std::size_t common = overlap(keys[i], keys[j]);
      const std::size_t together = keys[i].size() + keys[j].size() - common;
      if (common * 5 >= together * 4) all.insert(keys[j].begin(), keys[j].end());
    }
    dropped.push_back(all.size() - keys[i].size());
  }
  return dropped;
}

}  // namespace idletune
