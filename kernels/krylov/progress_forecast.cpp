#include "kernels/krylov/progress_forecast.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::krylov {
namespace {

constexpr std::size_t kFirstForecast = 8;  // residuals, before which nothing is concluded
constexpr std::size_t kMostKept = 1 << 16;
constexpr double kPessimism = 0.5;  // of what earlier solves took, what is reckoned with

// How fast the logarithm falls from one place to a later one, per iteration.
double fall(const std::vector<float>& logs, std::size_t from, std::size_t to) {
  return static_cast<double>(logs[from] - logs[to]) / static_cast<double>(to - from);
}

}  // namespace

ProgressForecast::ProgressForecast(double target, double most, double usual,
                                   SolvesToCome solves_to_come)
    : log_target_(std::log(target)), most_(most), usual_(usual), solves_to_come_(solves_to_come) {}

void ProgressForecast::add(double residual) {
  if (logs_.size() < kMostKept) logs_.push_back(static_cast<float>(std::log(residual)));
}

// The rate of the later half goes on, or at the lower end that of its steepest quarter. Where the
// residual does not fall, there are as many iterations left as there were. No more than those, or
// than the solve before took, are reckoned with: residuals often fall late and then at once.
Outlook ProgressForecast::of_this_solve() const {
  const std::size_t count = logs_.size();
  const auto done = static_cast<double>(count);
  const double most_left = std::max(0.0, most_ - done);
  if (count < kFirstForecast) {
    const double left = std::min(most_left, std::max(0.0, usual_ - done));
    return {kPessimism * left, left, kPessimism * left};
  }
  const std::size_t half = count / 2;
  const std::size_t quarter = (count - half) / 4;
  double steepest = fall(logs_, half, count - 1);
  for (std::size_t from = half; from + quarter < count; from += quarter) {
    steepest = std::max(steepest, fall(logs_, from, from + quarter));
  }
  const double way = std::max(0.0, static_cast<double>(logs_.back()) - log_target_);
  const double rate = fall(logs_, half, count - 1);
  const double low = std::min(steepest > 0 ? way / steepest : done, std::max(done, usual_ - done));
  const double expected = rate > 0 ? way / rate : std::max(done, low);
  return {std::min(low, most_left), std::min(expected, most_left), std::min(low, most_left)};
}

Outlook ProgressForecast::outlook() const {
  Outlook outlook = of_this_solve();
  const auto done = static_cast<double>(logs_.size());
  const double per_solve = usual_ > 0 ? usual_ : done + outlook.expected;
  const double later = solves_to_come_.count * kPessimism * (usual_ > 0 ? usual_ : done);
  outlook.low += later;
  outlook.expected += solves_to_come_.count * per_solve;
  if (solves_to_come_.announced) outlook.announced += later;
  return outlook;
}

}  // namespace idletune::krylov
