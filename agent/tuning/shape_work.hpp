// What is under way for one shape.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include <idletune/agent.hpp>

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
  std::optional<JournaledTrial> incumbent{};  // of what runs beside it; nothing: the default
  Nanoseconds at_first{0};  // of one that races: its time in trials, by the shape's first clock
};

// What runs is measured again beside the default, because production says that it no longer wins.
struct Rechecking {
  CandidateTrial plan;
  JournaledTrial journaled;
};

// A configuration on its way to the launches.
struct Install {
  Configuration configuration;
  Selection selection = Selection::tuned;
  Nanoseconds at_first{0};    // expected per launch, by the shape's first clock
  bool recalled = false;      // an earlier session adopted it
  Nanoseconds least_gain{0};  // per launch against what runs, of comparisons side by side
  Nanoseconds setup{0};       // of the configuration; 0: none, or not known any more
  bool timed_alike = true;    // ShapeTask's
};

// A configuration is built for launches, and will then be published, or race.
struct Installing {
  Install install;
  std::unique_ptr<TryingCandidate> candidate{};  // is to race; null: it is to be published
  journal::Serial exposed = 0;                   // when the journal knew; 0: it does not yet
  bool begun = false;                            // the build; then candidate is with it
};

using ShapeWork = std::variant<Resting, MeasuringDefault, TryingCandidate, Rechecking, Installing>;

template <typename State>
bool is(const ShapeWork& work) {
  return std::holds_alternative<State>(work);
}

// The stage that comes next in the trial runner; nothing: none, or the work goes on elsewhere.
std::optional<TrialRequest> next_request(const ShapeWork& work);
// What a run of its configuration takes, as far as a trial knows; 0: not yet.
Nanoseconds next_run(const ShapeWork& work);
// The journal's side of what next_request's stage runs; null for the default.
JournaledTrial* journaled_stage(ShapeWork& work);
// That of the candidate; null where nothing new is tried.
const JournaledTrial* journaled(const ShapeWork& work);
// Nothing of the work runs for longer; nothing of it runs any more, its stage included.
void rest(ShapeWork& work);
void end(ShapeWork& work);
// The outcome of next_request's stage.
void on_outcome(ShapeWork& work, const TrialOutcome& outcome);
// The plan has come to its end. Never true of Resting and Installing.
bool done(const ShapeWork& work);

}  // namespace idletune::detail
