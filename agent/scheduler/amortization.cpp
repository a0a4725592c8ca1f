#include "agent/scheduler/amortization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

#include "agent/belief/relative_performance.hpp"
#include "models/core/order.hpp"

namespace idletune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMaxLaunches = 1e15;
constexpr double kMaxSteps = 1 << 20;
constexpr double kFineLookAhead = 64;       // up to here also 3, 6, 12, ...
constexpr double kLongestLookAhead = 1024;  // with a searcher's proposals

// How firmly the share of the space that improves on a given time is believed, in pseudo hits: the
// fractions of one kernel on different devices agree within a factor of a few (Olha et al.
// 2020, tables 4 and 5), those of different kernels do not.
constexpr double kModelHits = 2.0;
constexpr double kPriorHits = 0.5;
// Of the promise's share; the rest is kept for steps that outlive their high percentile.
constexpr double kReserved = 0.8;
constexpr double kEightyPercent = 1.2816;  // standard deviations to either end
// Relative noise of one measurement (a median of repeats), for the minimum of many.
constexpr double kNoise = 0.01;

// Standard deviations of log t_best: from one predicted relative performance, from an unknown
// default configuration, and the floor that no number of draws goes below (this device's
// distribution is not exactly the historical one).
constexpr double kPredictedSpread = 0.25;
constexpr double kDefaultSpread = 0.45;
constexpr double kScaleFloor = 0.15;

double in_ns(Nanoseconds duration) {
  return duration.count() > 0 ? static_cast<double>(duration.count()) : 0.0;
}

double clamp_or(double value, double low, double high, double fallback) {
  return std::isnan(value) ? fallback : std::clamp(value, low, high);
}

// The input with everything in range.
struct Terms {
  double current = 0;
  double launches = 0;
  double launches_per_step = 0;
  double step_charge = 0;  // kappa times the cost of a step
  double step_charge_high = 0;
  double ratio = 0.9;
  double probability = 0.9;
  double margin = 0.03;
  double pessimism = 0.25;
  double max_steps = kMaxSteps;
  double known_best = 0;  // the fastest time seen, what runs now included
  double draws = 0;
  double hits_strength = kPriorHits;
  bool has_quantiles = false;
  bool has_beliefs = false;
  double entries = 0;  // of the portfolio, that ran here
  // What tuning may still lose without breaking the promise: fixed part, and part per launch to
  // come. Infinite without a promise.
  double slack = kInfinity;
  double slack_per_launch = 0;
  // Of that, what the promise itself leaves, without savings: that much may be staked against the
  // odds.
  double stake = 0;
  double stake_per_launch = 0;

  double slack_now() const { return slack + slack_per_launch * launches; }
};

Terms terms_of(const DecisionInput& input) {
  Terms terms;
  terms.current = in_ns(input.current);
  terms.launches = clamp_or(input.expected_launches, 0.0, kMaxLaunches, 0.0);
  terms.launches_per_step = clamp_or(input.launches_per_step, 0.0, kMaxLaunches, 0.0);
  terms.step_charge = clamp_or(input.kappa, 0.0, 1e6, 1.0) * in_ns(input.step_cost);
  terms.step_charge_high = std::max(
      terms.step_charge, clamp_or(input.kappa, 0.0, 1e6, 1.0) * in_ns(input.step_cost_high));
  terms.ratio = clamp_or(input.target_ratio, 0.01, 1.0, 0.9);
  terms.probability = clamp_or(input.wanted_probability, 0.0, 1.0, 0.9);
  terms.margin = clamp_or(input.adoption_margin, 0.0, 0.9, 0.03);
  terms.pessimism = clamp_or(input.pessimism, 0.0, 1.0, 0.25);
  if (input.remaining_configurations > 0) {
    terms.max_steps = std::min(kMaxSteps, static_cast<double>(input.remaining_configurations));
  }
  terms.draws = input.draws ? input.draws->count() : 0;
  terms.has_quantiles = input.quantiles.size() >= 2;
  terms.has_beliefs = input.outlook.beliefs != nullptr && input.outlook.beliefs->source_count() > 0;
  if (terms.has_beliefs) terms.entries = input.outlook.beliefs->measured();
  terms.known_best = terms.current;
  // The fastest of many noisy times is too fast by what normal noise makes of it.
  const double luck = 1 + kNoise * std::sqrt(2 * std::log1p(terms.draws + terms.entries));
  for (Nanoseconds seen : {input.best_here, input.draws ? input.draws->best() : Nanoseconds{0}}) {
    if (seen.count() > 0) terms.known_best = std::min(terms.known_best, in_ns(seen) * luck);
  }
  if (input.promise && input.promise->untuned.count() > 0) {
    const double share = kReserved * clamp_or(input.promise->share, 0.0, 1.0, 0.02);
    terms.slack = share * in_ns(input.promise->untuned_past) +
                  static_cast<double>(input.promise->saved.count()) - in_ns(input.promise->charged);
    terms.stake = share * in_ns(input.promise->untuned_past) - in_ns(input.promise->charged);
    terms.stake_per_launch = share * in_ns(input.promise->untuned);
    terms.slack_per_launch =
        share * in_ns(input.promise->untuned) + in_ns(input.promise->untuned) - terms.current;
  }
  const bool history =
      terms.has_quantiles || (input.fraction && input.fraction_origin != FractionOrigin::prior);
  terms.hits_strength = history ? kModelHits : kPriorHits;
  return terms;
}

// t_best on this device: log-normal, cut off at the fastest time seen.
struct Scale {
  double mean_log = 0;
  double spread = 0;
  double known_best = 0;
  ScaleGuess by_rank;  // of what runs now alone, where nothing predicts that

  double at(double deviations) const {
    return std::min(known_best, std::exp(mean_log + deviations * spread));
  }
};

struct Node {
  double deviations;
  double weight;
};
// Three-point Gauss-Hermite quadrature over the scale.
constexpr std::array<Node, 3> kNodes{
    {{-1.7320508075688772, 1.0 / 6}, {0.0, 2.0 / 3}, {1.7320508075688772, 1.0 / 6}}};

// One estimate of log t_best per uniform draw: its rank among the correct ones says which quantile
// of q it is, and log t_best = log t + log q. The median of them withstands disturbed runs.
double scale_from_draws(const UniformDraws& draws, const RelativePerformance& distribution) {
  std::array<double, UniformDraws::kCapacity> estimates{};
  const Span<const Nanoseconds> times = draws.times();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double level = 1.0 - (static_cast<double>(i) + 0.5) / static_cast<double>(times.size());
    estimates[i] = std::log(in_ns(times[i])) + std::log(distribution.correct_quantile(level));
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

Scale estimate_scale(const DecisionInput& input, const Terms& terms,
                     const RelativePerformance& distribution) {
  std::optional<double> predicted = input.current_relative;
  if (!predicted && input.first_pick_running) predicted = input.first_pick_relative;
  // What the sources predict is their components' affair once an entry was measured.
  if (terms.entries > 0) predicted.reset();
  const bool usable = predicted && *predicted > 0.01 && *predicted <= 1.0;
  const double q =
      usable ? *predicted : distribution.correct_quantile(level_of_current(input, terms));
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

double draws_faster_than(const UniformDraws* draws, double time) {
  return draws ? draws->count_below(time) : 0;
}

// The share of the space with a property that history says `expected` of it has and that `hits` of
// `draws` uniform draws had: a Gamma(strength, strength / expected) prior on a rate.
double updated_share(double expected, double strength, double hits, double draws) {
  if (!(expected > 0)) return draws > 0 ? std::min(1.0, hits / draws) : 0;
  return std::min(1.0, (strength + hits) / (strength / expected + draws));
}

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

struct LookAhead {
  double steps = 0;
  double cost = 0;
  double gain = 0;
  double pessimistic_net = -kInfinity;
  double break_even_expected =
      kInfinity;  // launches from which on the mean net gain of some k is > 0
  double break_even_careful = kInfinity;  // and its pessimistic quantile
  double break_even_promise = 0;          // from which on the next step cannot break the promise

  double net() const { return gain - cost; }
  double break_even_search() const { return std::max(break_even_expected, break_even_careful); }
  double break_even() const { return std::max(break_even_search(), break_even_promise); }
};

double break_even(double cost, double gain_per_launch, double missed_launches) {
  return gain_per_launch > 0 ? cost / gain_per_launch + missed_launches : kInfinity;
}

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

bool pays(const LookAhead& look, const Terms& terms) { return terms.launches > look.break_even(); }

// What adopting the model's first pick is expected to gain per launch; 0 where none is to be had.
double first_pick_gain(const DecisionInput& input, const Terms& terms, const Scale& scale) {
  if (input.first_pick_running || !input.first_pick_relative) return 0;
  const double q = *input.first_pick_relative;
  if (!(q > 0.01) || q > 1.0) return 0;
  double gain = 0;
  for (const Node& node : kNodes) {
    const double time = scale.at(node.deviations) / q;
    if (time <= terms.current * (1.0 - terms.margin)) gain += node.weight * (terms.current - time);
  }
  return gain;
}

// "1.25 ms" and the like, for reasons.
struct DurationText {
  char text[24];
  explicit DurationText(double ns) {
    const char* unit = "ns";
    double value = ns;
    for (const char* larger : {"us", "ms", "s"}) {
      if (std::fabs(value) < 999.5) break;
      value /= 1000;
      unit = larger;
    }
    std::snprintf(text, sizeof text, "%.3g %s", value, unit);
    if (std::fabs(value) >= 999.5)
      std::snprintf(text, sizeof text, "%.0f %s", std::min(value, 1e12), unit);
  }
};

struct CountText {
  char text[24];
  explicit CountText(double count) {
    if (std::isinf(count)) {
      std::snprintf(text, sizeof text, "no number of");
    } else {
      std::snprintf(text, sizeof text, count < 1e7 ? "%.0f" : "%.2g", std::ceil(count));
    }
  }
};

__attribute__((format(printf, 2, 3))) void say(Decision& decision, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(decision.reason_text, sizeof decision.reason_text, format, arguments);
  va_end(arguments);
}

// "1 more step", "16 more steps".
struct StepsText {
  char text[40];
  explicit StepsText(double steps) {
    std::snprintf(text, sizeof text, "%s more step%s", CountText(steps).text,
                  steps == 1 ? "" : "s");
  }
};

void explain_tune(Decision& decision, const Terms& terms) {
  say(decision,
      "Tuning is expected to pay: %s for %s should gain %s over %s launches; it pays from %s "
      "launches on.",
      StepsText(decision.steps).text, DurationText(decision.cost_ns).text,
      DurationText(decision.gain_ns).text, CountText(terms.launches).text,
      CountText(decision.break_even_launches).text);
}

void explain_stop(Decision& decision, const Terms& terms, const LookAhead& look,
                  const char* beginning) {
  if (terms.launches > look.break_even_search() && terms.launches <= look.break_even_promise) {
    say(decision,
        "%s: it may gain %s for %s, but a step that finds nothing may cost %s, more than the "
        "overhead limit leaves over %s launches; it would be safe from %s launches on.",
        beginning, DurationText(decision.gain_ns).text, DurationText(decision.cost_ns).text,
        DurationText(terms.step_charge_high).text, CountText(terms.launches).text,
        CountText(look.break_even_promise).text);
    return;
  }
  if (!(decision.gain_ns > 0) || std::isinf(decision.break_even_launches)) {
    say(decision,
        "%s: nothing noticeably faster than the present %s per launch is to be expected over %s "
        "launches (estimate of the best: %s).",
        beginning, DurationText(terms.current).text, CountText(terms.launches).text,
        DurationText(decision.best_estimate_ns).text);
    return;
  }
  const bool on_average = decision.gain_ns > decision.cost_ns;
  say(decision,
      "%s: %s for %s would gain %s%s over %s launches%s; it would pay from %s launches on.",
      beginning, StepsText(decision.steps).text, DurationText(decision.cost_ns).text,
      on_average ? "" : "only ", DurationText(decision.gain_ns).text,
      CountText(terms.launches).text,
      on_average ? " on average, but too likely less than that costs" : "",
      CountText(decision.break_even_launches).text);
}

void take_over(Decision& decision, const LookAhead& look) {
  decision.steps = look.steps;
  decision.cost_ns = look.cost;
  decision.gain_ns = look.gain;
  decision.pessimistic_net_ns = look.pessimistic_net;
  decision.break_even_launches = look.break_even();
}

// It would pay; is there the time and the allowance?
void admit(Decision& decision, const DecisionInput& input, const Terms& terms) {
  decision.verdict = Verdict::wait;
  if (input.longest_gap.count() > 0 && input.gap_needed > input.longest_gap) {
    say(decision,
        "Tuning would pay (gain %s, cost %s), but a stage needs an idle gap of %s and the "
        "usual longest is %s.",
        DurationText(decision.gain_ns).text, DurationText(decision.cost_ns).text,
        DurationText(in_ns(input.gap_needed)).text, DurationText(in_ns(input.longest_gap)).text);
  } else if (input.allowance && in_ns(*input.allowance) < terms.step_charge) {
    say(decision,
        "Tuning would pay (gain %s, cost %s), but the next step is charged %s and the "
        "overhead limit allows %s now.",
        DurationText(decision.gain_ns).text, DurationText(decision.cost_ns).text,
        DurationText(terms.step_charge).text, DurationText(in_ns(*input.allowance)).text);
  } else {
    decision.verdict = Verdict::tune;
    explain_tune(decision, terms);
  }
}

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

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::tune: return "tune";
    case Verdict::use_history: return "use_history";
    case Verdict::stop: return "stop";
    case Verdict::wait: return "wait";
  }
  return "unknown";
}

const char* fraction_origin_name(FractionOrigin origin) {
  switch (origin) {
    case FractionOrigin::prior: return "prior";
    case FractionOrigin::model: return "model";
    case FractionOrigin::measured: return "measured";
  }
  return "unknown";
}

double steps_for_probability(double fraction, double wanted_probability) {
  if (!(wanted_probability > 0)) return 0;
  if (!(fraction > 0) || wanted_probability >= 1) return kInfinity;
  if (fraction >= 1) return 1;
  return std::log1p(-wanted_probability) / std::log1p(-fraction);
}

double probability_after_steps(double fraction, double steps) {
  if (!(fraction > 0) || !(steps > 0)) return 0;
  if (fraction >= 1) return 1;
  return -std::expm1(steps * std::log1p(-fraction));
}

Decision decide(const DecisionInput& input) {
  const Terms terms = terms_of(input);
  const RelativePerformance distribution = distribution_of(input, terms);
  Decision decision;
  if (!(terms.current > 0)) {
    decision.break_even_launches = kInfinity;
    report_fraction(decision, input, terms, distribution);
    say(decision,
        "What runs now has not been timed on this device yet, so nothing can be compared.");
    return decision;
  }
  const Scale scale = estimate_scale(input, terms, distribution);
  decision.best_estimate_ns = scale.at(0);
  decision.target_ns = decision.best_estimate_ns / terms.ratio;
  report_fraction(decision, input, terms, distribution);

  const double pick_gain = first_pick_gain(input, terms, scale);
  const LookAhead now = look_ahead(input, terms, scale, distribution, terms.current);
  const LookAhead past_pick =
      pick_gain > 0 ? look_ahead(input, terms, scale, distribution, terms.current - pick_gain)
                    : now;
  const double pick_launches = std::max(0.0, terms.launches - terms.launches_per_step);
  const bool pick_pays = pick_gain > 0 && pick_launches * pick_gain > terms.step_charge &&
                         terms.launches >= now.break_even_promise;

  if (pays(pick_pays ? past_pick : now, terms)) {
    take_over(decision, now);
    admit(decision, input, terms);
  } else if (pick_pays) {
    decision.verdict = Verdict::use_history;
    decision.steps = 1;
    decision.cost_ns = terms.step_charge;
    decision.gain_ns = pick_launches * pick_gain;
    decision.pessimistic_net_ns = past_pick.pessimistic_net;
    decision.break_even_launches =
        break_even(terms.step_charge, pick_gain, terms.launches_per_step);
    say(decision,
        "The model's first pick is expected to gain %s over %s launches for %s of "
        "checking; searching beyond it does not pay.",
        DurationText(decision.gain_ns).text, CountText(terms.launches).text,
        DurationText(decision.cost_ns).text);
  } else {
    take_over(decision, now);
    decision.verdict = input.first_pick_running ? Verdict::use_history : Verdict::stop;
    explain_stop(decision, terms, now,
                 input.first_pick_running ? "The model's pick runs and searching on does not pay"
                                          : "Tuning does not pay");
  }
  return decision;
}

}  // namespace idletune
