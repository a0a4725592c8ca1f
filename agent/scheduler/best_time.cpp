#include "agent/scheduler/best_time.hpp"

#include <algorithm>
#include <cmath>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::amortization {
namespace {

// This device's distribution is not exactly the historical one: the least spread of a source's
// estimate of log t_best.
constexpr double kScaleFloor = 0.10;
// Under "none of these" t_best lies below the fastest seen, exponentially with this mean.
constexpr double kBelowBest = 0.25;

// A distribution by its first two moments.
struct Moments {
  double weight = 0;
  double mean = 0;
  double square = 0;

  void add(double part, double value, double variance) {
    weight += part;
    mean += part * value;
    square += part * (value * value + variance);
  }
};

}  // namespace

Tenths best_time(const DecisionInput& input, const Terms& terms) {
  const double log_best = std::log(terms.known_best);
  Moments sources;
  for (std::size_t d = 0; terms.beliefs != nullptr && d < terms.beliefs->source_count(); ++d) {
    const DevicePosterior::Component component = terms.beliefs->component(d);
    if (component.count == 0) continue;  // it tells nothing of the scale
    sources.add(component.weight, component.log_scale + terms.log_clock - log_best,
                component.noise_variance / component.count + kScaleFloor * kScaleFloor);
  }
  Tenths best{};
  if (sources.weight > 0) {
    const double none = terms.beliefs->weight_of_none();
    const double part = (1 - none) / sources.weight;
    Moments all{1 - none, part * sources.mean, part * sources.square};
    all.add(none, -kBelowBest, kBelowBest * kBelowBest);
    const double deviation = std::sqrt(std::max(0.0, all.square - all.mean * all.mean));
    for (std::size_t i = 0; i < best.size(); ++i) {
      const double deviations = (static_cast<double>(i) - 1) * kEightyPercent;
      best[i] = std::exp(log_best + std::min(0.0, all.mean + deviations * deviation));
    }
    return best;
  }
  const DrawLaws laws = input.draws ? DrawLaws(*input.draws) : DrawLaws();
  const bool drawn = input.draws != nullptr && input.draws->correct() >= DrawLaws::kFewest;
  const double least = drawn ? std::log(real_ns(input.draws->best())) + terms.log_clock : log_best;
  const Tenths distance = laws.distance();
  for (std::size_t i = 0; i < best.size(); ++i) {
    best[i] = std::exp(std::min(log_best, least - distance[2 - i]));
  }
  return best;
}

}  // namespace idletune::amortization
