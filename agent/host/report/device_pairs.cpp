#include "agent/host/report/device_pairs.hpp"

#include "models/host/learn/performance_table.hpp"

namespace idletune::report {
namespace {

// 1-based ranks; equal values share the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    const double rank = static_cast<double>(first + last + 1) / 2;
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = rank;
    first = last;
  }
  return ranks;
}

double at_best_of(const std::vector<float>& from, const std::vector<float>& on) {
  std::size_t best = 0;
  float most = -1;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (on[i] >= 0 && from[i] > most) most = from[best = i];
  }
  return most > 0 ? static_cast<double>(on[best]) : 0;
}

DevicePair pair_of(const std::vector<float>& a, const std::vector<float>& b, double threshold) {
  DevicePair pair;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] < 0 || b[i] < 0) continue;
    const double x = static_cast<double>(a[i]);
    const double y = static_cast<double>(b[i]);
    if (x > 0 && y > 0) {
      pair.points.push_back({x, y});
    } else if (x > 0 || y > 0) {
      ++pair.failed_on_one;
    }
    pair.good_on_first += x >= threshold ? 1 : 0;
    pair.good_on_second += y >= threshold ? 1 : 0;
    pair.good_on_both += x >= threshold && y >= threshold ? 1 : 0;
  }
  pair.ran_on_both = pair.points.size();
  pair.rank_correlation = rank_correlation(pair.points);
  pair.first_best_on_second = at_best_of(a, b);
  pair.second_best_on_first = at_best_of(b, a);
  return pair;
}

}  // namespace

double rank_correlation(const std::vector<Point>& points) {
  if (points.size() < 3) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> x;
  std::vector<double> y;
  for (const Point& point : points) {
    x.push_back(point.x);
    y.push_back(point.y);
  }
  x = ranks_of(x);
  y = ranks_of(y);
  const double mean = static_cast<double>(points.size() + 1) / 2;  // of the ranks
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<DevicePair> pairs_of(const Group& group, double threshold, std::size_t limit) {
  const PerformanceTable table(group.histories());
  std::vector<DevicePair> pairs;
  // Every source of a group has something that ran and its own device: one source of the table
  // each.
  const auto& sources = table.sources();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (std::size_t j = i + 1; j < sources.size(); ++j) {
      if (pairs.size() == limit) return pairs;
      pairs.push_back(pair_of(sources[i].relative, sources[j].relative, threshold));
      pairs.back().first = group.sources[i].device;
      pairs.back().second = group.sources[j].device;
    }
  }
  return pairs;
}

}  // namespace idletune::report
