#include "agent/scheduler/best_time.hpp"

#include <cstddef>
#include <optional>

#include "agent/scheduler/nanoseconds.hpp"
#include "models/core/order.hpp"

namespace idletune::amortization {
namespace {

// Standard deviations of log t_best: from one predicted relative performance, from an unknown
// default configuration, and the floor that no number of draws goes below (this device's
// distribution is not exactly the historical one).
constexpr double kPredictedSpread = 0.25;
constexpr double kDefaultSpread = 0.45;
constexpr double kScaleFloor = 0.15;

// One estimate of log t_best per uniform draw: its rank among the correct ones says which quantile
// of q it is, and log t_best = log t + log q. The median of them withstands disturbed runs.
double scale_from_draws(const UniformDraws& draws, const RelativePerformance& distribution) {
  std::array<double, UniformDraws::kCapacity> estimates{};
  const Span<const Nanoseconds> times = draws.times();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double level = 1.0 - (static_cast<double>(i) + 0.5) / static_cast<double>(times.size());
    estimates[i] =
        std::log(real_ns_from_0(times[i])) + std::log(distribution.correct_quantile(level));
  }
  sort_ascending(Span<double>(estimates.data(), times.size()));
  return estimates[times.size() / 2];
}

// The level of what runs now in the distribution, where nothing predicts it: with f of n draws
// faster, 1 - (f + 1) / (n + 4). Without draws that is 0.75: developers choose defaults better than
// chance.
double level_of_current(const DecisionInput& input, const Terms& terms) {
  double correct = terms.entries;
  double faster = 0;
  if (input.draws) {
    correct += input.draws->correct();
    faster = input.draws->count_below(terms.current);
  }
  return 1.0 - (faster + 1.0) / (correct + 4.0);
}

}  // namespace

Scale estimate_scale(const DecisionInput& input, const Terms& terms,
                     const RelativePerformance& distribution) {
  double predicted = input.current_relative.value_or(0);
  if (!input.current_relative && input.first_pick_running) {
    predicted = input.first_pick_relative.value_or(0);
  }
  // What the sources predict is their components' affair once an entry was measured.
  const bool usable = terms.entries == 0 && predicted > 0.01 && predicted <= 1.0;
  const double q =
      usable ? predicted : distribution.correct_quantile(level_of_current(input, terms));
  Scale scale;
  scale.known_best = terms.known_best;
  scale.mean_log = std::log(terms.current) + std::log(q);
  scale.spread = usable ? kPredictedSpread : kDefaultSpread;
  scale.by_rank = {scale.mean_log, scale.spread};
  if (input.draws && input.draws->correct() > 0) {
    const double n = input.draws->correct();
    // A median's variance is about (1.25 sigma)^2 / n.
    const double deviation = 1.25 * distribution.log_deviation();
    const double from_draws = kScaleFloor * kScaleFloor + deviation * deviation / n;
    const double from_current = scale.spread * scale.spread;
    const double weight = from_current / (from_current + from_draws);
    scale.mean_log += weight * (scale_from_draws(*input.draws, distribution) - scale.mean_log);
    scale.spread = std::max(kScaleFloor, std::sqrt(from_current * (1.0 - weight)));
  }
  return scale;
}

}  // namespace idletune::amortization
