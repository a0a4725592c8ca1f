#include "agent/host/pictures/density.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace idletune::report {
namespace {

constexpr double kLeastBandwidth = 1.0 / 200;
constexpr std::size_t kBins = 1600;  // the sample is first counted into these

double silverman_bandwidth(const std::vector<double>& ascending) {
  const auto count = static_cast<double>(ascending.size());
  const double mean = std::accumulate(ascending.begin(), ascending.end(), 0.0) / count;
  double squares = 0;
  for (const double value : ascending) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / std::max(count - 1, 1.0));
  const double range = quantile_of(ascending, 0.75) - quantile_of(ascending, 0.25);
  const double spread = range > 0 ? std::min(deviation, range / 1.34) : deviation;
  return std::max(0.9 * spread * std::pow(count, -0.2), kLeastBandwidth);
}

// Each value split between its two neighbouring bin borders, so that binning moves nothing.
std::vector<double> binned(const std::vector<double>& values) {
  std::vector<double> weights(kBins + 1, 0.0);
  for (const double value : values) {
    const double place = std::clamp(value, 0.0, 1.0) * kBins;
    const auto bin = std::min(static_cast<std::size_t>(place), kBins - 1);
    const double share = place - static_cast<double>(bin);
    weights[bin] += 1 - share;
    weights[bin + 1] += share;
  }
  return weights;
}

double gaussian(double distance, double bandwidth) {
  constexpr double kRootOfTwoPi = 2.5066282746310002;
  const double z = distance / bandwidth;
  return std::exp(-0.5 * z * z) / (kRootOfTwoPi * bandwidth);
}

}  // namespace

double quantile_of(const std::vector<double>& ascending, double u) {
  const double place = std::clamp(u, 0.0, 1.0) * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= ascending.size()) return ascending.back();
  const double share = place - static_cast<double>(below);
  return ascending[below] + share * (ascending[below + 1] - ascending[below]);
}

double Density::highest() const {
  return height.empty() ? 0 : *std::max_element(height.begin(), height.end());
}

Density density_of(const std::vector<double>& ascending) {
  Density density;
  density.bandwidth = silverman_bandwidth(ascending);
  const std::vector<double> weights = binned(ascending);
  for (std::size_t i = 0; i < Density::kPoints; ++i) {
    const double x = Density::position(i);
    double sum = 0;
    for (std::size_t bin = 0; bin <= kBins; ++bin) {
      if (weights[bin] == 0) continue;
      const double value = static_cast<double>(bin) / kBins;
      sum += weights[bin] *
             (gaussian(x - value, density.bandwidth) + gaussian(x + value, density.bandwidth) +
              gaussian(x - 2 + value, density.bandwidth));
    }
    density.height.push_back(sum / static_cast<double>(ascending.size()));
  }
  return density;
}

Box box_of(const std::vector<double>& ascending) {
  Box box;
  box.low = box.lower = quantile_of(ascending, 0.25);
  box.median = quantile_of(ascending, 0.5);
  box.high = box.upper = quantile_of(ascending, 0.75);
  const double reach = 1.5 * (box.upper - box.lower);
  for (const double value : ascending) {
    if (value < box.lower - reach || value > box.upper + reach) {
      box.outside.push_back(value);
    } else {
      box.low = std::min(box.low, value);
      box.high = std::max(box.high, value);
    }
  }
  return box;
}

std::vector<std::uint32_t> counts_on_grid(const std::vector<Point>& points, std::size_t side) {
  const auto cell = [side](double value) {
    const double place = std::clamp(value, 0.0, 1.0) * static_cast<double>(side);
    return std::min(static_cast<std::size_t>(place), side - 1);
  };
  std::vector<std::uint32_t> counts(side * side, 0);
  for (const Point& point : points) ++counts[cell(point.y) * side + cell(point.x)];
  return counts;
}

}  // namespace idletune::report
