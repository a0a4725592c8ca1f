#include "agent/scheduler/decision_terms.hpp"

#include <algorithm>
#include <cmath>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::amortization {
namespace {

constexpr double kMaxLaunches = 1e15;
// Of the promise's share; the rest is kept for steps that outlive their high percentile.
constexpr double kReserved = 0.8;
// Relative noise of one measurement (a median of repeats), for the minimum of many.
constexpr double kNoise = 0.01;

}  // namespace

double clamp_or(double value, double low, double high, double fallback) {
  return std::isnan(value) ? fallback : std::clamp(value, low, high);
}

Terms terms_of(const DecisionInput& input) {
  Terms terms;
  terms.current = real_ns_from_0(input.current);
  terms.launches = clamp_or(input.expected_launches, 0.0, kMaxLaunches, 0.0);
  terms.launches_per_step = clamp_or(input.launches_per_step, 0.0, kMaxLaunches, 0.0);
  terms.step_charge = clamp_or(input.kappa, 0.0, 1e6, 1.0) * real_ns_from_0(input.step_cost);
  terms.step_charge_high = std::max(terms.step_charge, clamp_or(input.kappa, 0.0, 1e6, 1.0) *
                                                           real_ns_from_0(input.step_cost_high));
  terms.ratio = clamp_or(input.target_ratio, 0.01, 1.0, 0.9);
  terms.probability = clamp_or(input.wanted_probability, 0.0, 1.0, 0.9);
  terms.margin = clamp_or(input.adoption_margin, 0.0, 0.9, 0.03);
  terms.pessimism = clamp_or(input.pessimism, 0.0, 1.0, 0.25);
  if (input.remaining_configurations) {
    terms.max_steps = std::min(kMaxSteps, static_cast<double>(*input.remaining_configurations));
  }
  terms.draws = input.draws ? input.draws->count() : 0;
  terms.has_quantiles = input.quantiles.size() >= 2;
  terms.has_beliefs = input.outlook.beliefs != nullptr && input.outlook.beliefs->source_count() > 0;
  if (terms.has_beliefs) terms.entries = input.outlook.beliefs->measured();
  terms.known_best = terms.current;
  // The fastest of many noisy times is too fast by what normal noise makes of it.
  const double luck = 1 + kNoise * std::sqrt(2 * std::log1p(terms.draws + terms.entries));
  for (Nanoseconds seen : {input.best_here, input.draws ? input.draws->best() : Nanoseconds{0}}) {
    if (seen.count() > 0)
      terms.known_best = std::min(terms.known_best, real_ns_from_0(seen) * luck);
  }
  if (input.promise && input.promise->untuned.count() > 0) {
    const double share = kReserved * clamp_or(input.promise->share, 0.0, 1.0, 0.02);
    terms.slack = share * real_ns_from_0(input.promise->untuned_past) -
                  real_ns_from_0(input.promise->charged);
    terms.stake = terms.slack;
    terms.stake_per_launch = share * real_ns_from_0(input.promise->untuned);
    terms.slack_per_launch = share * real_ns_from_0(input.promise->untuned) +
                             real_ns_from_0(input.promise->untuned) - terms.current;
  }
  const bool history =
      terms.has_quantiles || (input.fraction && input.fraction_origin != FractionOrigin::prior);
  terms.hits_strength = history ? kModelHits : kPriorHits;
  return terms;
}

RelativePerformance distribution_of(const DecisionInput& input, const Terms& terms) {
  RelativePerformance distribution =
      terms.has_quantiles
          ? RelativePerformance::from_quantiles(input.quantiles, input.quantile_levels)
          : RelativePerformance::prior();
  if (!terms.has_quantiles && input.draws) distribution.stretch_to(*input.draws);
  // A pessimistic fraction must not pass for a distant t_best where sources tell the shape.
  if (input.fraction && !terms.has_beliefs) {
    distribution.set_share_at_least(terms.ratio, *input.fraction);
  }
  distribution.refine();
  return distribution;
}

}  // namespace idletune::amortization
