#include "agent/scheduler/amortization.hpp"

#include <algorithm>
#include <cmath>

#include "agent/scheduler/best_time.hpp"
#include "agent/scheduler/decision_reason.hpp"
#include "agent/scheduler/decision_terms.hpp"
#include "agent/scheduler/look_ahead.hpp"
#include "agent/scheduler/nanoseconds.hpp"
#include "agent/scheduler/well_performing.hpp"

namespace idletune {
namespace {

using namespace amortization;

// What steps are expected to bring: with the model's first pick, if one is to be tried yet, and
// beyond it.
struct Plan {
  bool has_pick = false;
  double pick_gain = 0;  // per launch
  LookAhead now;         // the pick included
  LookAhead past_pick;
  double pick_from = kInfinity;    // launches from which on the pick pays
  double search_from = kInfinity;  // and searching (beyond it)
};

// What a configuration that has `relative` of the best is expected to gain per launch.
double gain_of(double relative, const Terms& terms, const Tenths& best) {
  double gain = 0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const double time = best[i] / relative;
    if (time <= terms.current * (1 - terms.margin)) {
      gain += kTenthWeights[i] * (terms.current - time);
    }
  }
  return gain;
}

// The expected relative performance of what is tried next, while no entry has been measured here
// and so none has won yet; 0 where entries have, or there are none.
double first_relative(const DecisionInput& input, const Terms& terms, bool has_pick) {
  if (terms.beliefs != nullptr && terms.beliefs->measured() > 0) return 0;
  if (has_pick) return *input.first_pick_relative;
  const Span<const DevicePosterior::Forecast> upcoming = input.outlook.upcoming;
  if (terms.beliefs == nullptr || upcoming.empty()) return 0;
  return terms.beliefs->expected(upcoming[0].entry);
}

Plan plan_of(const DecisionInput& input, const Terms& terms, const Tenths& best) {
  Plan plan;
  const double pick = clamp_or(input.first_pick_relative.value_or(0), 0, 2, 0);
  plan.has_pick = !input.first_pick_running && pick > 0.01 && pick <= 1;
  ForecastInput ahead;
  ahead.outlook = input.outlook;
  ahead.draws = input.draws;
  ahead.tried = static_cast<double>(input.tried);
  ahead.behind = std::log(terms.current / terms.known_best);
  ahead.margin = terms.margin;
  const double relative = first_relative(input, terms, plan.has_pick);
  if (relative > 0) ahead.outlook = {};
  const SearchForecast forecast(ahead);
  plan.pick_gain = terms.current * forecast.gain(1);
  plan.now = look_ahead(forecast, terms, terms.current, terms.max_steps);
  if (relative > 0 && terms.max_steps >= 1) {
    // Each that failed makes it less likely that this one runs.
    const double failed = terms.beliefs != nullptr ? terms.beliefs->failed() : 0;
    plan.pick_gain = gain_of(relative, terms, best) / (1 + failed);
    consider(plan.now, terms, 1, plan.pick_gain);
  }
  const double promise = promise_break_even(terms);
  plan.search_from = std::max(plan.now.break_even, promise);
  if (!plan.has_pick) return plan;
  const double pick_from =
      std::max(break_even(terms.step_charge, plan.pick_gain, terms.launches_per_step), promise);
  if (pick_from > plan.search_from) return plan;
  plan.pick_from = pick_from;
  ahead.outlook = input.outlook;
  ahead.behind = 0;
  ahead.first_tried = true;
  plan.past_pick =
      look_ahead(SearchForecast(ahead), terms, terms.current - plan.pick_gain, terms.max_steps - 1);
  plan.search_from = std::max(pick_from, plan.past_pick.break_even);
  return plan;
}

void take_over(Decision& decision, const LookAhead& look, double from) {
  decision.steps = look.steps;
  decision.cost_ns = look.cost;
  decision.gain_ns = look.gain;
  decision.break_even_launches = from;
}

// The pick alone, or followed by a search.
LookAhead with_pick(const Plan& plan, const Terms& terms, const LookAhead& beyond) {
  LookAhead look = beyond;
  look.steps += 1;
  look.cost += terms.step_charge;
  look.gain += std::max(0.0, terms.launches - terms.launches_per_step) * plan.pick_gain;
  return look;
}

// It would pay; is there the time and the allowance?
void admit(Decision& decision, const DecisionInput& input, const Terms& terms) {
  decision.verdict = Verdict::wait;
  if (input.longest_gap.count() > 0 && input.gap_needed > input.longest_gap) {
    explain_short_gaps(decision, input, terms);
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
  Decision decision;
  report_fraction(decision, input, terms);
  if (!(terms.current > 0)) {
    decision.break_even_launches = kInfinity;
    explain_untimed(decision, terms);
    return decision;
  }
  const Tenths best = best_time(input, terms);
  decision.best_low_ns = best[0];
  decision.best_estimate_ns = best[1];
  decision.best_high_ns = best[2];
  decision.target_ns = decision.best_estimate_ns / terms.ratio;

  const Plan plan = plan_of(input, terms, best);
  const bool uses_pick = plan.pick_from < kInfinity;
  if (terms.launches > plan.search_from) {
    take_over(decision, uses_pick ? with_pick(plan, terms, plan.past_pick) : plan.now,
              plan.search_from);
    admit(decision, input, terms);
  } else if (terms.launches > plan.pick_from) {
    decision.verdict = Verdict::use_history;
    take_over(decision, with_pick(plan, terms, {}), plan.pick_from);
    explain_first_pick(decision, terms);
  } else {
    take_over(decision, plan.now, std::min(plan.search_from, plan.pick_from));
    decision.verdict = input.first_pick_running ? Verdict::use_history : Verdict::stop;
    explain_stop(decision, terms, plan.now.break_even,
                 input.first_pick_running ? "The model's pick runs and searching on does not pay"
                                          : "Tuning does not pay");
  }
  return decision;
}

}  // namespace idletune
