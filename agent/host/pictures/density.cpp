#include "agent/host/pictures/density.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::report {
namespace {

constexpr double kLeastBandwidth = 1.0 / 200;
constexpr std::size_t kBins = 1600;  // the sample is first counted into these

double standard_deviation(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(values.size() - 1, 1)));
}

double silverman_bandwidth(const std::vector<double>& ascending) {
  const double deviation = standard_deviation(ascending);
  const double range = quantile_of(ascending, 0.75) - quantile_of(ascending, 0.25);
  const double spread = range > 0 ? std::min(deviation, range / 1.34) : deviation;
  const double rule = 0.9 * spread * std::pow(static_cast<double>(ascending.size()), -0.2);
  return std::max(rule, kLeastBandwidth);
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

Box box_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Box box;
  box.lower = quantile_of(values, 0.25);
  box.median = quantile_of(values, 0.5);
  box.upper = quantile_of(values, 0.75);
  const double reach = 1.5 * (box.upper - box.lower);
  box.low = box.lower;
  box.high = box.upper;
  for (const double value : values) {
    if (value < box.lower - reach || value > box.upper + reach) {
      box.outside.push_back(value);
    } else {
      box.low = std::min(box.low, value);
      box.high = std::max(box.high, value);
    }
  }
  return box;
}

Grid::Grid(std::size_t cells_per_side)
    : side_(cells_per_side), counts_(cells_per_side * cells_per_side, 0) {}

std::size_t Grid::cell(double value) const {
  const double place = std::clamp(value, 0.0, 1.0) * static_cast<double>(side_);
  return std::min(static_cast<std::size_t>(place), side_ - 1);
}

void Grid::add(double x, double y) { ++counts_[cell(y) * side_ + cell(x)]; }

std::uint32_t Grid::highest() const {
  return counts_.empty() ? 0 : *std::max_element(counts_.begin(), counts_.end());
}

}  // namespace idletune::report
