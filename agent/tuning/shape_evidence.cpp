#include "agent/tuning/shape_evidence.hpp"

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune {

void ShapeEvidence::step_ended(const Proposal& proposal, TrialStatus status, Nanoseconds time,
                               bool counts) {
  if (counts) ++evaluated;
  if (counts && status != TrialStatus::correct) ++rejected;
  const bool timed = status == TrialStatus::correct && time.count() > 0;
  if (timed) saw(time);
  if (proposal.origin != ProposalOrigin::random) return;
  draws.add(timed ? time : Nanoseconds{0});
}

Nanoseconds ShapeEvidence::as_at_first(Nanoseconds time) const {
  return from_ns(real_ns(time) / clock);
}

Nanoseconds ShapeEvidence::as_now(Nanoseconds at_first) const {
  return from_ns(real_ns(at_first) * clock);
}

void ShapeEvidence::saw(Nanoseconds time) {
  if (time.count() > 0 && (best_here.count() == 0 || time < best_here)) best_here = time;
}

bool asks_for_step(const Decision& decision, const ShapeEvidence& evidence) {
  const bool first_pick_left = evidence.first_pick && !evidence.first_pick_tried;
  return decision.verdict == Verdict::tune ||
         (decision.verdict == Verdict::use_history && first_pick_left);
}

}  // namespace idletune
