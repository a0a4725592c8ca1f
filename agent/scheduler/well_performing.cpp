#include "agent/scheduler/well_performing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "agent/belief/draw_laws.hpp"
#include "models/core/random_search.hpp"

namespace idletune::amortization {
namespace {

// By how much (of the logarithm) the fractions of one kernel on two devices differ.
constexpr double kFractionSpread = 0.9;
constexpr double kLeastFraction = 1e-6;

// Of the logarithm of a share.
struct Belief {
  double mean = 0;
  double variance = 0;
  bool known = false;  // somewhere uniform draws were measured
};

Belief by_draws(const DrawLaws& laws, double ratio) {
  const Tenths log_share = laws.fraction(ratio);
  const double spread = std::log(log_share[2] / log_share[0]) / (2 * kEightyPercent);
  return {std::log(log_share[1]), spread * spread, false};
}

Belief by_sources(const DevicePosterior& beliefs, double ratio) {
  const Belief unknown = by_draws(DrawLaws(), ratio);
  double mean = 0;
  double square = 0;
  const auto add = [&](double weight, const Belief& belief) {
    mean += weight * belief.mean;
    square += weight * (belief.mean * belief.mean + belief.variance);
  };
  bool known = false;
  add(beliefs.weight_of_none(), unknown);
  for (std::size_t d = 0; d < beliefs.source_count(); ++d) {
    const double value = std::log(std::max(kLeastFraction, beliefs.cautious_fraction(d, ratio)));
    known = known || beliefs.has_draws(d);
    add(beliefs.weight(d),
        beliefs.has_draws(d) ? Belief{value, kFractionSpread * kFractionSpread, true} : unknown);
  }
  return {mean, std::max(square - mean * mean, kFractionSpread * kFractionSpread), known};
}

}  // namespace

void report_fraction(Decision& decision, const DecisionInput& input, const Terms& terms) {
  const bool drawn = input.draws != nullptr && input.draws->correct() >= DrawLaws::kFewest;
  Belief share = by_draws(drawn ? DrawLaws(*input.draws) : DrawLaws(), terms.ratio);
  decision.fraction_origin = drawn ? FractionOrigin::measured : FractionOrigin::prior;
  if (terms.beliefs != nullptr) {
    const Belief told = by_sources(*terms.beliefs, terms.ratio);
    const double weight = drawn ? told.variance / (told.variance + share.variance) : 0;
    share.mean = told.mean + weight * (share.mean - told.mean);
    // Both rest on the same few: together they know hardly more than the better one alone.
    share.variance = std::min(told.variance, share.variance);
    if (weight < 0.5 && told.known) decision.fraction_origin = FractionOrigin::model;
  }
  const double deviation = kEightyPercent * std::sqrt(share.variance);
  decision.fraction = std::exp(share.mean);
  decision.fraction_low = std::exp(share.mean - deviation);
  decision.fraction_high = std::min(1.0, std::exp(share.mean + deviation));
  decision.expected_steps =
      whole_steps(steps_for_probability(decision.fraction, terms.probability));
}

}  // namespace idletune::amortization
