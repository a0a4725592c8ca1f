#include "agent/scheduler/amortization.hpp"

#include <algorithm>

#include "agent/scheduler/best_time.hpp"
#include "agent/scheduler/decision_reason.hpp"
#include "agent/scheduler/decision_terms.hpp"
#include "agent/scheduler/look_ahead.hpp"
#include "agent/scheduler/nanoseconds.hpp"
#include "agent/scheduler/well_performing.hpp"

namespace idletune {
namespace {

using namespace amortization;

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

void take_over(Decision& decision, const LookAhead& look) {
  decision.steps = look.steps;
  decision.cost_ns = look.cost;
  decision.gain_ns = look.gain;
  decision.pessimistic_net_ns = look.steps > 0 ? look.pessimistic_net : 0;
  decision.break_even_launches = look.break_even();
}

// It would pay; is there the time and the allowance?
void admit(Decision& decision, const DecisionInput& input, const Terms& terms) {
  decision.verdict = Verdict::wait;
  if (input.longest_gap.count() > 0 && input.gap_needed > input.longest_gap) {
    explain_short_gaps(decision, input);
  } else if (input.allowance && real_ns_from_0(*input.allowance) < terms.step_charge) {
    explain_short_allowance(decision, input, terms);
  } else {
    decision.verdict = Verdict::tune;
    explain_tune(decision, terms);
  }
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

const char* blocker_name(Blocker blocker) {
  constexpr const char* kNames[] = {"none",  "gap",      "ledger", "limit",  "duty",
                                    "board", "in_place", "build",  "trials", "compile"};
  return kNames[static_cast<std::size_t>(blocker)];
}

const char* fraction_origin_name(FractionOrigin origin) {
  switch (origin) {
    case FractionOrigin::prior: return "prior";
    case FractionOrigin::model: return "model";
    case FractionOrigin::measured: return "measured";
  }
  return "unknown";
}

Decision decide(const DecisionInput& input) {
  const Terms terms = terms_of(input);
  const RelativePerformance distribution = distribution_of(input, terms);
  Decision decision;
  if (!(terms.current > 0)) {
    decision.break_even_launches = kInfinity;
    report_fraction(decision, input, terms, distribution);
    explain_untimed(decision);
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
    explain_first_pick(decision, terms);
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
