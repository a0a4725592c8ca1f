// What is under way for one shape.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "agent/scheduler/step_plan.hpp"
#include "agent/search/searcher.hpp"
#include "agent/trial/journaled_trial.hpp"
#include "agent/trial/trial.hpp"

namespace idletune::detail {

struct Resting {};

// The default is measured, before anything is compared with it.
struct MeasuringDefault {
  ReferenceBaseline plan;
};

// A proposal is tried in the trial runner; or it is only checked there (a plan without finals), and
// then races with others in the application's launches.
struct TryingCandidate {
  Proposal proposal;
  CandidateTrial plan;
  JournaledTrial journaled;
};

// What runs is measured again beside the default, because production says that it no longer wins.
struct Rechecking {
  CandidateTrial plan;
  std::uint32_t rounds = 0;  // calls of run() since it began
};

// A configuration is being built for launches, and will then be published, or race.
struct Installing {};

using ShapeWork = std::variant<Resting, MeasuringDefault, TryingCandidate, Rechecking, Installing>;

template <typename State>
bool is(const ShapeWork& work) {
  return std::holds_alternative<State>(work);
}

// The stage that comes next in the trial runner; nothing: none, or the work goes on elsewhere.
std::optional<TrialRequest> next_request(const ShapeWork& work);
// The journal's side of the trial that next_request's stage is part of; null for stages of the
// default, the incumbent and the reference, which are known to be harmless.
JournaledTrial* journaled_stage(ShapeWork& work);
// That of the whole work; null where nothing new is tried.
JournaledTrial* journaled(ShapeWork& work);
const JournaledTrial* journaled(const ShapeWork& work);
// The outcome of next_request's stage.
void on_outcome(ShapeWork& work, const TrialOutcome& outcome);
// The plan has come to its end. Never true of Resting and Installing.
bool done(const ShapeWork& work);

}  // namespace idletune::detail
