#include "agent/tuning/in_place_trials.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::detail {
namespace {

Race::Policy policy(const StepOptions& options) {
  Race::Policy policy;
  policy.estimator = Estimator::lower_quartile;
  policy.heat = InPlaceTrials::kFirstLook;
  policy.enough = InPlaceTrials::kSamples;
  policy.hopeless_in_heat = options.hopeless_factor;
  policy.hopeless = options.screening_factor;
  policy.incumbent = true;
  policy.margin = options.margin;
  return policy;
}

}  // namespace

InPlaceTrials::InPlaceTrials(const StepOptions& options, double slowdown, bool are_known)
    : times(policy(options)), max_slowdown(slowdown), times_are_known(are_known) {}

void InPlaceTrials::join(double ratio) {
  (void)times.join(ratio);
  times.restart();  // what was timed before it may be of another clock
}

std::uint32_t InPlaceTrials::turns() const {
  constexpr double kUnknown = 3.0;
  double excess = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    excess += (times.ratio(i) > 0 ? times.ratio(i) : kUnknown) - 1;
  }
  const double cycle = std::ceil(excess / (max_slowdown > 0.001 ? max_slowdown : 0.001) - 1e-9);
  const auto racers = static_cast<double>(times.field().left);
  return LaunchTurns::pack(static_cast<std::uint32_t>(std::clamp(cycle, racers, 100000.0)),
                           static_cast<std::uint32_t>(times.size()));
}

}  // namespace idletune::detail
