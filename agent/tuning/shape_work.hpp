// What is under way for one shape.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <idletune/agent.hpp>

#include "agent/launch/launch_table.hpp"
#include "agent/launch/launch_trace.hpp"
#include "agent/scheduler/step_plan.hpp"
#include "agent/search/searcher.hpp"
#include "agent/trial/journaled_trial.hpp"
#include "agent/trial/trial.hpp"

namespace idletune::detail {

struct ShapeTask;

enum class Work : std::uint8_t {
  resting,
  measuring_default,  // before anything is compared with it
  // A proposal, in the trial runner; or it is only checked there (a plan without finals), and then
  // races with others in the application's launches.
  trying,
  rechecking,  // what runs, beside the default: production says that it no longer wins
  installing   // a configuration is built for launches, and will then be published, or race
};

struct TryingCandidate {
  TryingCandidate(const Proposal& proposed, const StepOptions& options,
                  const CandidateContext& context, journal::Journal& journal,
                  const journal::Trial& trial);
  // Nothing of it runs for longer.
  void rest();

  Proposal proposal;
  CandidateTrial plan;
  JournaledTrial journaled;
  std::optional<JournaledTrial> incumbent{};  // of what runs beside it; nothing: the default
  Nanoseconds at_first{0};  // of one that races: its time in trials, by the shape's first clock
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

// A variant that is built for launches.
struct Build {
  ShapeTask* task = nullptr;
  Install install{};
  std::unique_ptr<TryingCandidate> candidate{};  // is to race; null: it is to be published
  journal::Serial exposed = 0;                   // when the journal knew; 0: it does not yet
  Nanoseconds started{0};
  std::unique_ptr<Variant> variant{};
  Status status{};
  Nanoseconds processor{0};  // time of the thread that built it
  HandedOver handed{};
};

struct ShapeWork {
  Work state = Work::resting;
  std::unique_ptr<ReferenceBaseline> baseline{};  // only while the default is measured
  std::unique_ptr<TryingCandidate> tried{};       // only while trying or rechecking
  std::unique_ptr<Build> build{};                 // only while installing, until it begins

  bool is(Work what) const { return state == what; }
  void begin(Work next, std::unique_ptr<TryingCandidate> candidate);
  void clear();
  // Null: nothing new is tried.
  TryingCandidate* trying() const { return is(Work::trying) ? tried.get() : nullptr; }
  // The stage that comes next in the trial runner; nothing: none, or the work goes on elsewhere.
  std::optional<TrialRequest> next_request() const;
  bool has_next() const { return (baseline != nullptr || tried != nullptr) && !done(); }
  // The journal's side of what that stage runs; null for the default.
  JournaledTrial* journaled_stage() const;
  // Nothing of the work runs for longer; nothing of it runs any more, its stage included.
  void rest() const;
  void end() const;
  // The outcome of next_request's stage.
  void on_outcome(const TrialOutcome& outcome) const;
  // The plan has come to its end. Never true of what rests or is installed.
  bool done() const;
};

}  // namespace idletune::detail
