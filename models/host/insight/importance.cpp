#include "models/host/insight/importance.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace idletune {

namespace {

using Labels = std::vector<std::uint32_t>;

// Independent labellings add up to nothing but for rounding; what is smaller is 0 on every machine.
constexpr double kRounding = 1e-12;

// How often each label occurs, and each pair of labels.
struct Contingency {
  std::vector<std::size_t> a;
  std::vector<std::size_t> b;
  std::vector<std::size_t> both;  // a-major
  std::size_t total = 0;

  Contingency(const Labels& labels_a, const Labels& labels_b)
      : a(counts(labels_a)),
        b(counts(labels_b)),
        both(a.size() * b.size()),
        total(labels_a.size()) {
    for (std::size_t i = 0; i < total; ++i) ++both[labels_a[i] * b.size() + labels_b[i]];
  }

  static std::vector<std::size_t> counts(const Labels& labels) {
    std::vector<std::size_t> result;
    for (const std::uint32_t label : labels) {
      if (label >= result.size()) result.resize(label + 1);
      ++result[label];
    }
    return result;
  }
};

double entropy(const Labels& labels) {
  const double n = static_cast<double>(labels.size());
  double sum = 0;
  for (const std::size_t count : Contingency::counts(labels)) {
    if (count == 0) continue;
    const double p = static_cast<double>(count) / n;
    sum -= p * std::log2(p);
  }
  return sum;
}

// log(i!) for i = 0 ... n.
std::vector<double> log_factorials(std::size_t n) {
  std::vector<double> result(n + 1, 0.0);
  for (std::size_t i = 2; i <= n; ++i) result[i] = result[i - 1] + std::log(static_cast<double>(i));
  return result;
}

// Mean contribution of a cell with these margins: n_ab is hypergeometric when labels are permuted.
double expected_cell(std::size_t a, std::size_t b, std::size_t n,
                     const std::vector<double>& log_factorial) {
  const double margins = log_factorial[a] + log_factorial[b] + log_factorial[n - a] +
                         log_factorial[n - b] - log_factorial[n];
  const double total = static_cast<double>(n);
  double sum = 0;
  for (std::size_t both = a + b > n ? a + b - n : 1; both <= std::min(a, b); ++both) {
    if (both == 0) continue;
    const double log_probability = margins - log_factorial[both] - log_factorial[a - both] -
                                   log_factorial[b - both] - log_factorial[n + both - a - b];
    const double share = static_cast<double>(both) / total;
    sum += share *
           std::log2(share * total / static_cast<double>(a) * total / static_cast<double>(b)) *
           std::exp(log_probability);
  }
  return sum;
}

// Values numbered in the order in which they first occur.
Labels label_values(const CellColumn& column, const std::vector<std::size_t>& rows,
                    std::size_t* distinct) {
  std::unordered_map<std::int64_t, std::uint32_t> numbers;
  Labels labels;
  labels.reserve(rows.size());
  for (const std::size_t row : rows) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    labels.push_back(numbers.emplace(column.code(row), next).first->second);
  }
  if (distinct != nullptr) *distinct = numbers.size();
  return labels;
}

}  // namespace

std::size_t time_bin_count(std::size_t times) {
  std::size_t bins = 2;
  while (bins < kMaxTimeBins && 16 * (bins + 1) * (bins + 1) <= times) ++bins;
  return bins;
}

std::vector<std::uint32_t> equal_frequency_bins(const std::vector<double>& times) {
  const std::size_t n = times.size();
  const std::size_t bins = time_bin_count(n);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t x, std::size_t y) { return times[x] < times[y]; });
  Labels labels(n, 0);
  std::size_t first_of_equal = 0;
  for (std::size_t rank = 0; rank < n; ++rank) {
    if (times[order[rank]] != times[order[first_of_equal]]) first_of_equal = rank;
    labels[order[rank]] = static_cast<std::uint32_t>(first_of_equal * bins / n);
  }
  return labels;
}

double mutual_information(const Labels& a, const Labels& b) {
  const Contingency table(a, b);
  const double n = static_cast<double>(table.total);
  double sum = 0;
  for (std::size_t i = 0; i < table.a.size(); ++i) {
    for (std::size_t j = 0; j < table.b.size(); ++j) {
      const std::size_t both = table.both[i * table.b.size() + j];
      if (both == 0) continue;
      const double share = static_cast<double>(both) / n;
      sum += share * std::log2(share * n / static_cast<double>(table.a[i]) * n /
                               static_cast<double>(table.b[j]));
    }
  }
  return sum > kRounding ? sum : 0;
}

double expected_mutual_information(const Labels& a, const Labels& b) {
  const std::vector<std::size_t> counts_a = Contingency::counts(a);
  const std::vector<std::size_t> counts_b = Contingency::counts(b);
  const std::vector<double> log_factorial = log_factorials(a.size());
  std::map<std::pair<std::size_t, std::size_t>, double>
      known;  // bins are equally frequent: few margins
  double sum = 0;
  for (const std::size_t count_a : counts_a) {
    for (const std::size_t count_b : counts_b) {
      if (count_a == 0 || count_b == 0) continue;
      const auto [cell, unknown] = known.try_emplace({count_a, count_b}, 0.0);
      if (unknown) cell->second = expected_cell(count_a, count_b, a.size(), log_factorial);
      sum += cell->second;
    }
  }
  return std::max(0.0, sum);
}

Importance importance_of(const History& history) {
  Importance result;
  result.kernel = history.kernel;
  result.device = history.device;
  const std::vector<std::size_t> valid_rows = history.valid_rows();
  std::vector<std::size_t> correct_rows;
  std::vector<double> times;
  Labels failures;
  for (const std::size_t row : valid_rows) {
    failures.push_back(history.correct(row) ? 0 : 1);
    if (!history.correct(row)) continue;
    correct_rows.push_back(row);
    times.push_back(history.run_time[row]);
  }
  result.correct = correct_rows.size();
  result.failed = valid_rows.size() - correct_rows.size();
  const bool enough = result.correct >= 2;
  const Labels bins = enough ? equal_frequency_bins(times) : Labels();
  if (enough) {
    result.bins = time_bin_count(result.correct);
    result.time_entropy = entropy(bins);
  }
  double highest = 0;
  for (const CellColumn& column : history.parameters) {
    ParameterImportance parameter;
    parameter.name = column.name();
    const Labels labels = label_values(column, correct_rows, &parameter.values);
    if (enough && parameter.values > 1) {
      parameter.information = mutual_information(labels, bins);
      parameter.corrected =
          std::max(0.0, parameter.information - expected_mutual_information(labels, bins));
    }
    if (result.failed > 0) {
      parameter.failure_information =
          mutual_information(label_values(column, valid_rows, nullptr), failures);
    }
    highest = std::max(highest, parameter.information);
    result.parameters.push_back(std::move(parameter));
  }
  for (ParameterImportance& parameter : result.parameters) {
    parameter.relative = highest > 0 ? parameter.information / highest : 0;
  }
  return result;
}

}  // namespace idletune
