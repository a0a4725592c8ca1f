#include "agent/belief/draw_laws.hpp"

#include <algorithm>
#include <cmath>

namespace idletune {
namespace {

constexpr double kSpreadFloor = 0.02;
constexpr double kDistanceFloor = 0.004;
constexpr double kLeastDistance = 1e-6;  // chances of distances are shares of it

// exp(log_scale) * draws^by_draws * spread^by_spread.
struct Law {
  double log_scale;
  double by_draws;
  double by_spread;
};
constexpr std::array<Law, 3> kDistance{
    {{-0.9676, -0.67, 0.56}, {0.5128, -0.57, 0.70}, {1.2413, -0.52, 0.59}}};
constexpr std::array<Law, 3> kFraction{
    {{-8.23, 0.33, -1.21}, {-6.46, 0.22, -1.65}, {-4.19, 0.0, -1.77}}};
// The share above another ratio than 0.9: log p_b goes with the ratio to this power, about.
constexpr double kRatio = 0.9;
constexpr double kByRatio = 2.5;

Tenths log_of(const std::array<Law, 3>& laws, double draws, double spread) {
  const double log_draws = std::log(draws);
  const double log_spread = std::log(spread);
  Tenths result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = laws[i].log_scale + laws[i].by_draws * log_draws + laws[i].by_spread * log_spread;
  }
  return result;
}

}  // namespace

DrawLaws::DrawLaws(const UniformDraws& seen) {
  if (seen.correct() < kFewest) return;
  draws = seen.correct();
  const Span<const Nanoseconds> times = seen.times();
  const double median = static_cast<double>(times[times.size() / 2].count());
  spread = std::log(median / static_cast<double>(seen.best().count())) + kSpreadFloor;
}

Tenths DrawLaws::distance() const {
  Tenths result = log_of(kDistance, draws, spread);
  for (double& each : result) each = std::max(kLeastDistance, std::exp(each) - kDistanceFloor);
  return result;
}

Tenths DrawLaws::fraction(double ratio) const {
  Tenths result = log_of(kFraction, draws, spread);
  const double power = std::pow(ratio / kRatio, kByRatio);
  for (double& each : result) each = std::exp(std::min(0.0, each) * power);
  return result;
}

}  // namespace idletune
