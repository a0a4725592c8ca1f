#include "agent/scheduler/decision_terms.hpp"

#include <algorithm>
#include <cmath>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune::amortization {
namespace {

// A fixed part, and one per launch to come.
struct Slack {
  double fixed;
  double per_launch;
};

Slack slack_of(const Promise& promise, double current) {
  const double share = clamp_or(promise.share, 0.0, 1.0, 0.02);
  return {share * real_ns_from_0(promise.untuned_past) - real_ns_from_0(promise.charged),
          (1 + share) * real_ns_from_0(promise.untuned) - current};
}

}  // namespace

double clamp_or(double value, double low, double high, double fallback) {
  return std::isnan(value) ? fallback : std::clamp(value, low, high);
}

Terms terms_of(const DecisionInput& input) {
  Terms terms;
  terms.current = real_ns_from_0(input.current);
  terms.launches = clamp_or(input.expected_launches, 0.0, kMaxLaunches, 0.0);
  terms.launches_per_step = clamp_or(input.launches_per_step, 0.0, kMaxLaunches, 0.0);
  const double kappa = clamp_or(input.kappa, 0.0, 1e6, 1.0);
  terms.step_charge = kappa * real_ns_from_0(input.step_cost);
  terms.step_charge_high =
      std::max(terms.step_charge, kappa * real_ns_from_0(input.step_cost_high));
  terms.ratio = clamp_or(input.target_ratio, 0.01, 1.0, 0.9);
  terms.probability = clamp_or(input.wanted_probability, 0.0, 1.0, 0.9);
  terms.margin = clamp_or(input.adoption_margin, 0.0, 0.9, 0.03);
  if (input.remaining_configurations) {
    terms.max_steps = std::min(kMaxSteps, static_cast<double>(*input.remaining_configurations));
  }
  const DevicePosterior* beliefs = input.outlook.beliefs;
  if (beliefs != nullptr && beliefs->source_count() > 0) terms.beliefs = beliefs;
  const double clock = clamp_or(input.clock, 1e-6, 1e6, 1.0);
  terms.log_clock = std::log(clock);
  terms.known_best = terms.current;
  if (input.best_here.count() > 0) {
    terms.known_best = std::min(terms.known_best, real_ns(input.best_here) * clock);
  }
  if (input.promise && input.promise->untuned.count() > 0) {
    const Slack slack = slack_of(*input.promise, terms.current);
    terms.slack = slack.fixed;
    terms.slack_per_launch = slack.per_launch;
  }
  return terms;
}

}  // namespace idletune::amortization

namespace idletune {

Nanoseconds left_of(const Promise& promise, Nanoseconds current, double launches) {
  const amortization::Slack slack = amortization::slack_of(promise, real_ns_from_0(current));
  return from_ns(slack.fixed + launches * slack.per_launch);
}

}  // namespace idletune
