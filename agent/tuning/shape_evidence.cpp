#include "agent/tuning/shape_evidence.hpp"

namespace idletune {

void ShapeEvidence::step_ended(const Proposal& proposal, TrialStatus status, Nanoseconds time) {
  ++evaluated;
  if (status != TrialStatus::correct) ++rejected;
  const bool timed = status == TrialStatus::correct && time.count() > 0;
  if (timed) saw(time);
  if (proposal.origin != ProposalOrigin::random) return;
  if (timed) {
    draws.add(time);
  } else {
    draws.add_failure();
  }
}

void ShapeEvidence::saw(Nanoseconds time) {
  if (time.count() > 0 && (best_here.count() == 0 || time < best_here)) best_here = time;
}

DecisionInput decision_input(const ShapeEvidence& evidence, const DecisionSituation& situation) {
  DecisionInput input;
  input.current = situation.running_time;
  input.expected_launches = situation.expected_launches;
  const double step_seconds =
      static_cast<double>((situation.step.cpu + situation.step.device).count()) * 1e-9;
  input.launches_per_step = situation.launches_per_second * step_seconds;
  // The weights are in the charge already.
  input.step_cost = situation.step_charge;
  input.step_cost_high = situation.step_charge_high;
  input.kappa = 1;
  input.allowance = situation.allowance;
  input.promise = situation.promise;
  input.outlook = situation.outlook;
  input.gap_needed = situation.gap_needed;
  input.longest_gap = situation.longest_gap;
  if (evidence.knowledge != nullptr && evidence.quantiles != nullptr) {
    input.quantiles = evidence.quantiles->values;
    input.quantile_levels = evidence.quantiles->levels;
    input.fraction = evidence.knowledge->cautious_fraction(situation.target_ratio);
    // A pick that was tried and rejected predicts nothing any more.
    if (evidence.first_pick && (situation.first_pick_running || !evidence.first_pick_tried)) {
      input.first_pick_relative = evidence.first_pick->expected_relative_performance;
      input.first_pick_running = situation.first_pick_running;
      if (input.first_pick_running) input.current_relative = input.first_pick_relative;
    }
  }
  input.draws = &evidence.draws;
  input.best_here = evidence.best_here;
  const std::uint64_t valid = situation.valid_configurations;
  input.remaining_configurations = valid > evidence.evaluated ? valid - evidence.evaluated : 0;
  input.target_ratio = situation.target_ratio;
  input.wanted_probability = situation.wanted_probability;
  input.adoption_margin = situation.adoption_margin;
  return input;
}

bool asks_for_step(const Decision& decision, const ShapeEvidence& evidence) {
  const bool first_pick_left = evidence.first_pick && !evidence.first_pick_tried;
  return decision.verdict == Verdict::tune ||
         (decision.verdict == Verdict::use_history && first_pick_left);
}

}  // namespace idletune
