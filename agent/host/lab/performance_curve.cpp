#include "agent/host/lab/performance_curve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/core/median.hpp"

namespace idletune {

namespace {

double position(const ImprovedBest& improvement, CurveAxis axis) {
  return axis == CurveAxis::evaluations ? static_cast<double>(improvement.evaluations)
                                        : improvement.tuning_ms;
}

double relative_at(const SimulatedSearch& search, CurveAxis axis, double at) {
  double relative = 0;
  for (const ImprovedBest& improvement : search.improvements) {
    if (position(improvement, axis) > at) break;
    relative = improvement.relative;
  }
  return relative;
}

// Where the curve is drawn: whole numbers for evaluations, each once.
std::vector<double> positions(double first, double last, CurveAxis axis, std::size_t points) {
  std::vector<double> result;
  const double steps = static_cast<double>(std::max<std::size_t>(points, 2) - 1);
  for (double i = 0; i <= steps; ++i) {
    double at = i < steps ? first * std::pow(last / first, i / steps) : last;
    if (axis == CurveAxis::evaluations) at = std::round(at);
    if (result.empty() || at > result.back()) result.push_back(at);
  }
  return result;
}

}  // namespace

std::vector<CurvePoint> performance_curve(Span<const SimulatedSearch> searches, CurveAxis axis,
                                          std::size_t points) {
  double first = INFINITY, last = 0;
  for (const SimulatedSearch& search : searches) {
    if (search.improvements.empty()) continue;
    first = std::min(first, position(search.improvements.front(), axis));
    last = std::max(last, position(search.improvements.back(), axis));
  }
  std::vector<CurvePoint> curve;
  if (!(last > 0)) return curve;
  first = std::max(first, last * 1e-9);  // free first evaluations have no place on such an axis
  for (const double at : positions(first, last, axis, points)) {
    std::vector<double> reached;
    for (const SimulatedSearch& search : searches) reached.push_back(relative_at(search, axis, at));
    std::sort(reached.begin(), reached.end());
    const std::size_t n = reached.size();
    const double sum = std::accumulate(reached.begin(), reached.end(), 0.0);
    curve.push_back({at, sum / static_cast<double>(n), median_of_ascending(reached),
                     reached[n / 10], reached[n - 1 - n / 10]});
  }
  return curve;
}

}  // namespace idletune
