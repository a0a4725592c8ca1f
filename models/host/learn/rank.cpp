#include "models/host/learn/rank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace idletune {

namespace {

constexpr double kSharpness = 4.0;

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

// The weighted mean of q^power over the sources; a source that did not measure it counts with its
// own mean.
std::vector<double> mean_power(const PerformanceTable& table, const std::vector<double>& weights,
                               double power) {
  const std::size_t count = table.configurations().size();
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> result(count, 0.0);
  for (std::size_t s = 0; s < table.sources().size(); ++s) {
    if (weights[s] <= 0) continue;
    const PerformanceTable::Source& source = table.sources()[s];
    const double unmeasured = std::pow(mean_of(source.distribution.sorted), power);
    for (std::size_t c = 0; c < count; ++c) {
      const double q = static_cast<double>(source.relative[c]);
      result[c] += weights[s] * (q < 0 ? unmeasured : power == 1 ? q : std::pow(q, power));
    }
  }
  for (double& value : result) value = total > 0 ? std::clamp(value / total, 0.0, 1.0) : 0;
  return result;
}

}  // namespace

std::vector<double> expected_relative_performance(const PerformanceTable& table,
                                                  const std::vector<double>& weights) {
  return mean_power(table, weights, 1);
}

std::vector<double> desirability(const PerformanceTable& table,
                                 const std::vector<double>& weights) {
  return mean_power(table, weights, kSharpness);
}

std::vector<std::size_t> portfolio(const PerformanceTable& table,
                                   const std::vector<double>& weights, std::size_t count) {
  const std::vector<double> wanted = desirability(table, weights);
  const std::size_t sources = table.sources().size();
  std::vector<double> covered(sources, 0.0);
  std::vector<bool> taken(wanted.size(), false);
  std::vector<std::size_t> order;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  while (order.size() < std::min(count, wanted.size())) {
    std::size_t best = wanted.size();
    double best_value = -1;
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      if (taken[c] || wanted[c] <= 0) continue;
      double gain = 0;
      for (std::size_t s = 0; s < sources; ++s) {
        const double q = static_cast<double>(table.sources()[s].relative[c]);
        gain += weights[s] * std::max(0.0, q - covered[s]);
      }
      const double value = gain / total + wanted[c];
      if (value > best_value) {
        best_value = value;
        best = c;
      }
    }
    if (best == wanted.size()) break;
    taken[best] = true;
    order.push_back(best);
    for (std::size_t s = 0; s < sources; ++s) {
      covered[s] = std::max(covered[s], static_cast<double>(table.sources()[s].relative[best]));
    }
  }
  return order;
}

std::size_t index_of_largest(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace idletune
