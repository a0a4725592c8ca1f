#include "models/learn/selector_problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/predict/model_format.hpp"
#include "models/predict/selector.hpp"
#include "models/schema/model_generated.h"

namespace idletune::selector {
namespace {

constexpr std::size_t kCandidatesPerShape = 8;  // that may become classes

std::vector<std::int8_t> plain_features(std::size_t inputs) {
  std::vector<std::int8_t> exponents(inputs * inputs, 0);
  for (std::size_t i = 0; i < inputs; ++i) exponents[i * inputs + i] = 1;
  return exponents;
}

// The inputs, the products of two and of all, and the ratios of two.
std::vector<std::int8_t> derived_features(std::size_t inputs) {
  std::vector<std::int8_t> exponents = plain_features(inputs);
  const auto add = [&](std::size_t a, int sign, std::size_t b) {
    std::vector<std::int8_t> feature(inputs, 0);
    feature[a] = 1;
    feature[b] = static_cast<std::int8_t>(sign);
    exponents.insert(exponents.end(), feature.begin(), feature.end());
  };
  for (std::size_t a = 0; a < inputs; ++a) {
    for (std::size_t b = a + 1; b < inputs; ++b) {
      add(a, 1, b);
      add(a, -1, b);
    }
  }
  if (inputs > 2) exponents.insert(exponents.end(), inputs, 1);
  const std::size_t most = model_schema::kMaxSelectorFeatures * inputs;
  if (exponents.size() > most) exponents.resize(most);
  return exponents;
}

double mean_measured(const std::vector<float>& relative) {
  double sum = 0;
  std::size_t count = 0;
  for (const float q : relative) {
    if (q < 0) continue;
    sum += static_cast<double>(q);
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// The best few of every row, and what is good on average.
std::vector<std::size_t> choose_candidates(const PerformanceTable& table, const Rows& sources,
                                           std::size_t classes) {
  const std::size_t count = table.configurations().size();
  std::vector<double> sums(count, 0.0);
  std::vector<bool> wanted(count, false);
  std::vector<std::size_t> order(count);
  for (const std::size_t s : sources) {
    const std::vector<float>& q = table.sources()[s].relative;
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t few = std::min(kCandidatesPerShape, count);
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(few), order.end(),
        [&](std::size_t a, std::size_t b) { return q[a] != q[b] ? q[a] > q[b] : a < b; });
    for (std::size_t i = 0; i < few; ++i) wanted[order[i]] = q[order[i]] > 0 || wanted[order[i]];
    const double mean = mean_measured(q);
    for (std::size_t c = 0; c < count; ++c) sums[c] += q[c] < 0 ? mean : static_cast<double>(q[c]);
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t few = std::min(classes, count);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(few), order.end(),
      [&](std::size_t a, std::size_t b) { return sums[a] != sums[b] ? sums[a] > sums[b] : a < b; });
  for (std::size_t i = 0; i < few; ++i) wanted[order[i]] = true;
  std::vector<std::size_t> candidates;
  for (std::size_t c = 0; c < count; ++c) {
    if (wanted[c]) candidates.push_back(c);
  }
  return candidates;
}

// Drops features that are not finite somewhere (a ratio to 0).
std::vector<std::int8_t> usable(const std::vector<std::int8_t>& exponents, const Lesson& problem) {
  std::vector<std::int8_t> kept;
  for (std::size_t f = 0; f + problem.inputs <= exponents.size(); f += problem.inputs) {
    const bool finite = std::all_of(
        problem.shapes.begin(), problem.shapes.end(), [&](const std::vector<double>& shape) {
          return std::isfinite(selector_feature(exponents.data() + f, shape.data(), shape.size()));
        });
    if (finite) {
      kept.insert(kept.end(), exponents.begin() + static_cast<std::ptrdiff_t>(f),
                  exponents.begin() + static_cast<std::ptrdiff_t>(f + problem.inputs));
    }
  }
  return kept;
}

}  // namespace

Lesson problem_of(const PerformanceTable& table, const Rows& sources, const Rows& devices,
                  const SelectorOptions& options) {
  Lesson problem;
  problem.inputs = table.sources()[sources.front()].shape.input_count();
  problem.candidates = choose_candidates(table, sources, options.classes);
  problem.devices = devices;
  for (std::size_t r = 0; r < sources.size(); ++r) {
    const PerformanceTable::Source& source = table.sources()[sources[r]];
    std::vector<double> shape;
    for (std::size_t i = 0; i < problem.inputs; ++i) shape.push_back(source.shape.input(i));
    problem.shapes.push_back(shape);
    const float mean = static_cast<float>(mean_measured(source.relative));
    std::vector<float> q;
    for (const std::size_t c : problem.candidates)
      q.push_back(source.relative[c] < 0 ? mean : source.relative[c]);
    problem.q.push_back(q);
    const auto alike = std::count(devices.begin(), devices.end(), devices[r]);
    problem.weights.push_back(1.0 / static_cast<double>(alike));
  }
  problem.plain = usable(plain_features(problem.inputs), problem);
  problem.derived = usable(derived_features(problem.inputs), problem);
  return problem;
}

}  // namespace idletune::selector
