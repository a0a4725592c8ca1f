#include "agent/tuning/shape_work.hpp"

#include <utility>

namespace idletune::detail {

TryingCandidate::TryingCandidate(const Proposal& proposed, const StepOptions& options,
                                 const CandidateContext& context, journal::Journal& journal,
                                 const journal::Trial& trial)
    : proposal(proposed), plan(options, context), journaled(journal, trial) {}

void TryingCandidate::rest() {
  journaled.rest();
  if (incumbent) incumbent->rest();
}

void ShapeWork::begin(Work next, std::unique_ptr<TryingCandidate> candidate) {
  clear();
  state = next;
  tried = std::move(candidate);
}

void ShapeWork::clear() { *this = ShapeWork(); }

std::optional<TrialRequest> ShapeWork::next_request() const {
  if (baseline != nullptr) return baseline->next();
  return tried != nullptr ? tried->plan.next() : std::nullopt;
}

JournaledTrial* ShapeWork::journaled_stage() const {
  if (tried == nullptr) return nullptr;
  if (!tried->plan.next_is_incumbent()) return &tried->journaled;
  return tried->incumbent ? &*tried->incumbent : nullptr;
}

void ShapeWork::rest() const {
  if (tried != nullptr) tried->rest();
}

void ShapeWork::end() const {
  if (tried == nullptr) return;
  tried->journaled.ended();
  if (tried->incumbent) tried->incumbent->ended();
  tried->rest();
}

void ShapeWork::on_outcome(const TrialOutcome& outcome) const {
  if (baseline != nullptr) baseline->on_outcome(outcome);
  if (tried != nullptr) tried->plan.on_outcome(outcome);
}

bool ShapeWork::done() const {
  return baseline != nullptr ? baseline->done() : tried != nullptr && tried->plan.done();
}

}  // namespace idletune::detail
