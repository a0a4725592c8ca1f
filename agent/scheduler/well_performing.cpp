#include "agent/scheduler/well_performing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace idletune {
namespace amortization {
namespace {

constexpr double kEightyPercent = 1.2816;  // standard deviations to either end

}  // namespace

double draws_faster_than(const UniformDraws* draws, double time) {
  return draws ? draws->count_below(time) : 0;
}

double updated_share(double expected, double strength, double hits, double draws) {
  if (!(expected > 0)) return draws > 0 ? std::min(1.0, hits / draws) : 0;
  return std::min(1.0, (strength + hits) / (strength / expected + draws));
}

namespace {

// A rate known as a mixture of Gamma distributions, by its moments.
struct Rate {
  double mean = 0;
  double square = 0;

  // The share that history says is `expected`, after `hits` of `draws` draws.
  void add(double weight, double expected, double strength, double hits, double draws) {
    const double part = updated_share(expected, strength, hits, draws);
    const double spread = part * part / (expected > 0 ? strength + hits : hits + 1);
    mean += weight * part;
    square += weight * (part * part + spread);
  }
  // Of a Gamma distribution with these moments (Wilson and Hilferty 1931).
  double quantile(double deviations) const {
    const double variance = square - mean * mean;
    if (!(variance > 0) || !(mean > 0)) return mean;
    const double shape = mean * mean / variance;
    const double root = 1 - 1 / (9 * shape) + deviations / (3 * std::sqrt(shape));
    return root > 0 ? std::min(1.0, mean * root * root * root) : 0;
  }
};

Rate well_performing_rate(const DecisionInput& input, const Terms& terms, double expected,
                          double hits) {
  Rate rate;
  if (!terms.has_beliefs) {
    rate.add(1, expected, terms.hits_strength, hits, terms.draws);
    return rate;
  }
  const DevicePosterior& beliefs = *input.outlook.beliefs;
  for (std::size_t d = 0; d < beliefs.source_count(); ++d) {
    rate.add(beliefs.weight(d), beliefs.cautious_fraction(d, terms.ratio), kModelHits, hits,
             terms.draws);
  }
  rate.add(beliefs.weight_of_none(), expected, kPriorHits, hits, terms.draws);
  return rate;
}

}  // namespace

void report_fraction(Decision& decision, const DecisionInput& input, const Terms& terms,
                     const RelativePerformance& distribution) {
  const double expected = terms.has_beliefs && input.fraction
                              ? clamp_or(*input.fraction, 0.0, 1.0, 0.0)
                              : distribution.share_at_least(terms.ratio);
  const double hits = draws_faster_than(input.draws, decision.target_ns);
  const Rate rate = well_performing_rate(input, terms, expected, hits);
  decision.fraction = rate.mean;
  decision.fraction_low = std::min(rate.mean, rate.quantile(-kEightyPercent));
  decision.fraction_high = std::max(rate.mean, rate.quantile(kEightyPercent));
  decision.fraction_origin =
      terms.hits_strength == kModelHits ? FractionOrigin::model : FractionOrigin::prior;
  if (input.fraction) decision.fraction_origin = input.fraction_origin;
  // Past this many draws they outweigh what was believed before.
  if (terms.draws * expected > terms.hits_strength) {
    decision.fraction_origin = FractionOrigin::measured;
  }
  decision.expected_steps =
      std::ceil(steps_for_probability(decision.fraction, terms.probability) - 1e-9);
}

}  // namespace amortization

double steps_for_probability(double fraction, double wanted_probability) {
  if (!(wanted_probability > 0)) return 0;
  if (!(fraction > 0) || wanted_probability >= 1) return amortization::kInfinity;
  if (fraction >= 1) return 1;
  return std::log1p(-wanted_probability) / std::log1p(-fraction);
}

}  // namespace idletune
