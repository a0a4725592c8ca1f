#include "models/host/learn/selector_problem.hpp"

#include <algorithm>
#include <numeric>

namespace idletune::selector {
namespace {

constexpr std::size_t kCandidatesPerShape = 8;  // that may become classes

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
  set_features(problem);
  return problem;
}

}  // namespace idletune::selector
