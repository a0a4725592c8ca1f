// The search for the best configuration of one kernel at one shape: what is tried next, what came
// of it, and whether going on pays. The agent's engine, ask/tell, the `decide` command and the
// simulations of applications all search with it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <idletune/aims.hpp>
#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/span.hpp>

#include "agent/scheduler/amortization.hpp"
#include "agent/scheduler/ledger.hpp"
#include "agent/scheduler/stage_estimates.hpp"
#include "agent/search/search_learner.hpp"
#include "agent/search/searcher.hpp"
#include "agent/tuning/kernel_model.hpp"
#include "agent/tuning/shape_evidence.hpp"
#include "agent/tuning/step_result.hpp"
#include "models/space/space.hpp"

namespace idletune {

class WorkGroups;

// What is searched for, and how; does not change. Space and learner are not owned and must outlive
// the search.
struct SearchSubject {
  const Space* space = nullptr;  // not null
  // The configuration that runs without tuning. It gives parameters that a model does not know
  // their value; may be empty.
  Configuration untuned;
  // Whether `untuned` is measured as the baseline before any step, and so is never proposed.
  bool has_baseline = true;
  Shape shape;
  std::string device;  // its name, as in DeviceInfo; may be empty
  std::uint64_t seed = 1;
  std::uint64_t random_start = 0;          // as in SearcherOptions
  const SearchLearner* learner = nullptr;  // null: none
  double target_ratio = kWellPerforming;   // these three as in DecisionInput
  double wanted_probability = kWantedProbability;
  double adoption_margin = kAdoptionMargin;
  // Of the whole space, where `space` lists only some of it; 0: it lists all.
  std::uint64_t valid_configurations = 0;
  std::shared_ptr<const WorkGroups> work_groups;  // as in SearcherOptions; null: none
};

// What one step costs.
struct StepPrice {
  StageEstimates::StepCost time;  // of a typical one
  Nanoseconds charge{0};          // for it, weights (kappa) applied
  Nanoseconds charge_high{0};     // for one at the high percentile; 0: unknown
};

// The application and the accounts at the moment of a decision. Fields as in DecisionInput.
struct SearchSituation {
  Configuration running;  // what launches run now; empty: unknown
  Nanoseconds running_time{0};
  double expected_launches = 0;
  double launches_per_second = 0;  // that go on while a step is made; 0: the application waits
  StepPrice step;
  std::optional<Nanoseconds> allowance;
  std::optional<Promise> promise;
  Nanoseconds gap_needed{0};
  Nanoseconds longest_gap{0};
};

// The evidence must outlive the use of what this returns. `outlook`: the searcher's.
DecisionInput decision_input(const ShapeEvidence& evidence, const SearchSubject& subject,
                             const SearchSituation& situation, const SearchOutlook& outlook);

// A configuration that was measured on this device before the search was set up.
struct KnownMeasurement {
  Configuration configuration;
  Observation observation;
  std::optional<bool> drawn;  // uniformly; nothing: nobody knows
  bool taken_back = false;    // its time promises nothing
};

// What the caller knows about a configuration that the search would try next.
enum class Admission : std::uint8_t {
  admitted = 0,
  refused = 1,    // not to be tried: it was fatal once, runs already, or nothing compiles it
  impossible = 2  // cannot be launched at this shape: costs nothing, but a draw found nothing
};

// Deterministic under the subject's seed. No device, clock, file or thread of its own; used by one
// thread at a time.
//
// Order of use: recall() for all that is known; the baseline, told with baseline_ended(); then, as
// long as decide() asks for it, next(), a trial, and step_ended(). Stages of trials are observed in
// estimates().
class ShapeSearch {
 public:
  // `model` may be null.
  ShapeSearch(const SearchSubject& subject, std::shared_ptr<const KernelModel> model);
  // With a searcher to compare with instead of the product's; never renewed. Not null.
  ShapeSearch(const SearchSubject& subject, std::unique_ptr<Searcher> searcher);

  // --- what is known beforehand ---
  // Tried right after the first pick: it won under another driver, say. Before recall(): those that
  // have been measured since are dropped.
  void add_hint(const Configuration& configuration) { hints_.push_back(configuration); }
  // In the order in which they were made. Tells as what each was proposed. `explored`: nobody
  // proposed it; whoever explored drew uniformly what is no entry of the model.
  ProposalOrigin recall(const KnownMeasurement& known, bool explored = false);
  // Another model from now on. What was found here stays; `known` is all of it that a searcher can
  // be told again.
  void renew(std::shared_ptr<const KernelModel> model, Span<const KnownMeasurement> known);
  // As if it was made now, with that model.
  void begin_anew(std::shared_ptr<const KernelModel> model);
  // Is not part of the space on this device.
  void exclude(const Configuration& configuration) { searcher_->exclude(configuration); }

  // --- steps ---
  // The next configuration that `admission`, a callable from Configuration to Admission, admits:
  // the model's first pick, hints, then the searcher's. Nothing: all have been proposed, or of
  // kMostInARow none was admitted.
  static constexpr int kMostInARow = 4096;
  template <typename AdmissionOf>
  std::optional<Proposal> next(const AdmissionOf& admission) {
    for (int i = 0; i < kMostInARow; ++i) {
      const std::optional<Proposal> proposal = propose();
      if (!proposal || admit(*proposal, admission(proposal->configuration))) return proposal;
    }
    return std::nullopt;
  }
  // The model's first pick, if it is still to be tried and admitted; nothing else.
  template <typename AdmissionOf>
  std::optional<Proposal> next_first_pick(const AdmissionOf& admission) {
    if (!first_pick_left()) return std::nullopt;
    const std::optional<Proposal> proposal = propose();
    if (!proposal || !admit(*proposal, admission(proposal->configuration))) return std::nullopt;
    return proposal;
  }
  // `result` is of subject().untuned.
  void baseline_ended(const StepResult& result);
  // Of a proposal of next(), or of a configuration that the application chose by itself (its origin
  // says so): that will not be proposed any more. `counts`: it is the first of its configuration.
  void step_ended(const StepResult& result, bool counts = true);
  // The fastest is not to be run any more. `drawn`: its time as at first, if it was drawn uniformly;
  // else 0.
  void took_back(Nanoseconds drawn);
  // The default, measured again, takes `now` and no more `before`: so does all that was measured.
  void clock_changed(Nanoseconds before, Nanoseconds now);

  // --- the decision ---
  // What a step costs now, as the ledger weighs it. `compiled`: the configuration to be tried is
  // compiled already where it will be tried.
  StepPrice step_price(const StageContext& context, const Ledger& ledger,
                       bool compiled = false) const;
  // Whether more steps pay. Changes nothing.
  Decision weigh(const SearchSituation& situation) const;
  // The same, kept as decision().
  const Decision& decide(const SearchSituation& situation);
  const std::optional<Decision>& decision() const { return decision_; }  // the last one
  // Whether it asks for a step now: to tune, or to try the first pick where that was not done yet.
  bool asks_for_step(const Decision& decision) const {
    return idletune::asks_for_step(decision, evidence_);
  }

  // --- what is known ---
  const SearchSubject& subject() const { return subject_; }
  const std::shared_ptr<const KernelModel>& model() const { return model_; }
  const ShapeEvidence& evidence() const { return evidence_; }
  SearchOutlook outlook() const { return searcher_->outlook(); }
  const std::optional<FirstPick>& first_pick() const { return evidence_.first_pick; }
  // Nothing is known of GPUs of that kind: the first steps are chosen by structure.
  bool begins_by_structure() const {
    return subject_.work_groups != nullptr && !evidence_.first_pick;
  }
  bool is_first_pick(const Configuration& configuration) const;
  bool first_pick_left() const { return evidence_.first_pick && !evidence_.first_pick_tried; }
  Nanoseconds first_pick_time() const {
    return first_pick_time_;
  }  // measured here, at first; 0: not yet
  StageEstimates& estimates() { return estimates_; }
  const StageEstimates& estimates() const { return estimates_; }

 private:
  Observation told(const StepResult& result);
  void set_up();
  bool is_baseline(const Configuration& configuration) const;
  std::optional<Proposal> propose();
  bool admit(const Proposal& proposal, Admission admission);
  // It has been measured here; `time` is 0 unless it ran correctly.
  void note_measured(const Configuration& configuration, Nanoseconds time);

  SearchSubject subject_;
  std::shared_ptr<const KernelModel> model_;
  std::unique_ptr<Searcher> searcher_;
  std::list<Configuration> hints_;
  ShapeEvidence evidence_;
  StageEstimates estimates_;
  Nanoseconds first_pick_time_{0};
  std::optional<Decision> decision_;
};

}  // namespace idletune
