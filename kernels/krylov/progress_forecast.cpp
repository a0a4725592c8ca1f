#include "kernels/krylov/progress_forecast.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::krylov {
namespace {

constexpr std::size_t kFirstForecast = 8;  // residuals, before which nothing is concluded
constexpr std::size_t kMostKept = 1 << 16;
constexpr double kPessimism = 0.5;  // the low end, as a share of what is expected

}  // namespace

ProgressForecast::ProgressForecast(double target, double most, double usual, double solves_to_come)
    : log_target_(std::log(target)), most_(most), usual_(usual), solves_to_come_(solves_to_come) {
  logs_.reserve(std::min(kMostKept, static_cast<std::size_t>(most) + 2));
}

void ProgressForecast::add(double residual) {
  if (logs_.size() < logs_.capacity()) logs_.push_back(static_cast<float>(std::log(residual)));
}

Outlook ProgressForecast::outlook() const {
  const std::size_t count = logs_.size();
  const auto done = static_cast<double>(count);
  double expected = std::max(0.0, usual_ - done);
  double low = kPessimism * expected;
  if (count >= kFirstForecast) {
    // The rate of the later half goes on; where there is none, as many again as were needed so far.
    const double now = static_cast<double>(logs_.back());
    const std::size_t half = count / 2;
    const double before = static_cast<double>(logs_[half]);
    const double rate = (before - now) / static_cast<double>(count - 1 - half);
    const double left = rate > 0 ? std::max(0.0, now - log_target_) / rate : done;
    if (usual_ == 0 || expected == 0) expected = left;
    low = kPessimism * std::min(expected, left);
  }
  const double most_left = std::max(0.0, most_ - done);
  const double per_solve = usual_ > 0 ? usual_ : done + std::min(expected, most_left);
  const double later = solves_to_come_ * per_solve;
  const double sure = usual_ > 0 ? usual_ : done;
  return {std::min(low, most_left) + solves_to_come_ * kPessimism * std::max(sure, done),
          std::min(expected, most_left) + later};
}

}  // namespace idletune::krylov
