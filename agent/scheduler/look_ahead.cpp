#include "agent/scheduler/look_ahead.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "agent/belief/search_forecast.hpp"
#include "agent/scheduler/well_performing.hpp"

namespace idletune::amortization {
namespace {

constexpr double kFineLookAhead = 64;       // up to here also 3, 6, 12, ...
constexpr double kLongestLookAhead = 1024;  // with a searcher's proposals

// What a single uniform draw gains per launch: bins of gain, ascending, and the share of the space
// with at most that gain. What gains nothing is left out.
struct GainDistribution {
  std::array<double, RelativePerformance::kMaxKnots> gain{};
  std::array<double, RelativePerformance::kMaxKnots> share_below{};  // share with a smaller gain
  std::size_t size = 0;
};

GainDistribution gains_at(double best, double current, const Terms& terms,
                          const UniformDraws* draws, const RelativePerformance& distribution) {
  GainDistribution result;
  const double limit = current * (1.0 - terms.margin);
  double improving = 0;
  for (std::size_t i = 0; i + 1 < distribution.size(); ++i) {
    const double q = distribution.bin_value(i);
    const double mass = distribution.bin_mass(i);
    if (!(mass > 0) || !(q > 0) || best / q > limit) continue;
    result.gain[result.size] = current - best / q;
    result.share_below[result.size] = mass;
    ++result.size;
    improving += mass;
  }
  if (result.size == 0) return result;
  const double hits = draws_faster_than(draws, limit);
  const double updated = updated_share(improving, terms.hits_strength, hits, terms.draws);
  double below = 1.0 - updated;
  for (std::size_t i = 0; i < result.size; ++i) {
    const double mass = result.share_below[i] * updated / improving;
    result.share_below[i] = below;
    below += mass;
  }
  return result;
}

// E[gain of the best of k draws] for k = k0, 2 k0, 4 k0, ...: with C_i the share gaining less than
// bin i, the best of k gains less with probability C_i^k, so E = sum over i of
// (g_i - g_(i-1)) (1 - C_i^k). Squaring the powers makes each doubling of k one multiplication a
// bin.
class BestOfDraws {
 public:
  BestOfDraws(const GainDistribution& gains, int first_count) : gains_(gains) {
    for (std::size_t i = 0; i < gains_.size; ++i) {
      const double c = gains_.share_below[i];
      power_[i] = first_count == 3 ? c * c * c : c;
    }
  }
  double expected() const {
    double sum = 0;
    double previous = 0;
    for (std::size_t i = 0; i < gains_.size; ++i) {
      sum += (gains_.gain[i] - previous) * (1.0 - power_[i]);
      previous = gains_.gain[i];
    }
    return sum;
  }
  // The `level` quantile of the gain: the best of k stays below bin i with probability power_[i].
  double quantile(double level) const {
    double result = 0;
    for (std::size_t i = 0; i < gains_.size && power_[i] < level; ++i) result = gains_.gain[i];
    return result;
  }
  void double_count() {
    for (std::size_t i = 0; i < gains_.size; ++i) power_[i] *= power_[i];
  }
  double most() const { return gains_.size == 0 ? 0 : gains_.gain[gains_.size - 1]; }

 private:
  const GainDistribution& gains_;
  std::array<double, RelativePerformance::kMaxKnots> power_{};
};

void consider(LookAhead& best, const Terms& terms, double k, double per_launch,
              double careful_per_launch) {
  const double cost = k * terms.step_charge;
  const double missed = k * terms.launches_per_step;
  const double launches = std::max(0.0, terms.launches - missed);
  const double gain = launches * per_launch;
  const double net = gain - cost;
  // A longer search has to be worth its while: of net gains within 1 % the one with fewer steps.
  const double tolerance = 0.01 * std::fabs(best.net());
  if (best.steps == 0 || net > best.net() + (k > best.steps ? tolerance : -tolerance)) {
    best.steps = k;
    best.cost = cost;
    best.gain = gain;
  }
  best.pessimistic_net = std::max(best.pessimistic_net, launches * careful_per_launch - cost);
  best.break_even_expected =
      std::min(best.break_even_expected, break_even(cost, per_launch, missed));
  // Likely not a loss, or one that the promise covers.
  const double covered = terms.stake;
  const double covering = terms.stake_per_launch;
  best.break_even_careful =
      std::min(best.break_even_careful,
               std::max(0.0, break_even(cost + missed * careful_per_launch - covered,
                                        careful_per_launch + covering, 0)));
}

// Over k = first, 2 first, 4 first, ...
void look_along(LookAhead& best, const Terms& terms,
                const std::array<GainDistribution, kNodes.size()>& gains, int first) {
  std::array<BestOfDraws, kNodes.size()> nodes{
      {{gains[0], first}, {gains[1], first}, {gains[2], first}}};
  double most = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) most += kNodes[i].weight * nodes[i].most();
  for (double k = first; k <= terms.max_steps; k *= 2) {
    double per_launch = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      per_launch += kNodes[i].weight * nodes[i].expected();
    }
    consider(best, terms, k, per_launch, nodes[1].quantile(terms.pessimism));
    if (per_launch >= 0.999 * most) return;  // more draws only cost more
    for (BestOfDraws& node : nodes) node.double_count();
  }
}

// The same with the searcher's own proposals.
void look_along_proposals(LookAhead& best, const Terms& terms, SearchForecast& forecast) {
  for (double power = 1; power <= std::min(terms.max_steps, kLongestLookAhead); power *= 2) {
    for (double k : {power, 1.5 * power}) {
      const bool coarse = k > kFineLookAhead && k > power;
      if (k > terms.max_steps || k != std::floor(k) || coarse) continue;
      forecast.advance_to(k);
      consider(best, terms, k, forecast.expected_gain(), forecast.gain_quantile(terms.pessimism));
    }
  }
}

// Launches from which on the next step, should it find nothing, leaves the promise unbroken.
double promise_break_even(const Terms& terms) {
  if (!(terms.slack < kInfinity)) return 0;
  const double missing = terms.step_charge_high - terms.slack;
  if (missing <= 0) return 0;
  return break_even(missing, terms.slack_per_launch, 0);
}

}  // namespace

LookAhead look_ahead(const DecisionInput& input, const Terms& terms, const Scale& scale,
                     const RelativePerformance& distribution, double current) {
  LookAhead best;
  best.break_even_promise = promise_break_even(terms);
  if (terms.has_beliefs) {
    ForecastInput forecast;
    forecast.outlook = input.outlook;
    forecast.draws = input.draws;
    forecast.current_ns = current;
    forecast.margin = terms.margin;
    if (!input.first_pick_running && current == terms.current)
      forecast.first_pick_relative = input.first_pick_relative.value_or(0);
    forecast.scale = {scale.mean_log, scale.spread};
    forecast.unknown_scale = scale.by_rank;
    forecast.unknown = &distribution;
    forecast.levels = input.quantile_levels;
    SearchForecast search(forecast);
    look_along_proposals(best, terms, search);
    return best;
  }
  std::array<GainDistribution, kNodes.size()> gains;
  for (std::size_t i = 0; i < kNodes.size(); ++i) {
    gains[i] = gains_at(scale.at(kNodes[i].deviations), current, terms, input.draws, distribution);
  }
  look_along(best, terms, gains, 1);
  look_along(best, terms, gains, 3);
  return best;
}

}  // namespace idletune::amortization
