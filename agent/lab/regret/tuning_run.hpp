// The tuner of an application, step by step, on a recorded device: the agent's own decision,
// searcher, trials and estimates, without its threads, files and gaps. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "agent/lab/regret/regret.hpp"
#include "agent/scheduler/amortization.hpp"
#include "agent/scheduler/stage_estimates.hpp"
#include "agent/scheduler/step_plan.hpp"
#include "agent/search/searcher.hpp"
#include "agent/tuning/shape_evidence.hpp"

namespace idletune::regret {

// What an application has to say when it asks for a decision.
struct Outlook {
  double launches_left = 0;
  std::optional<Nanoseconds> allowance;  // of the ledger; none: there is no ledger
  std::optional<Promise> promise;        // as in DecisionInput
};

// The first work is the baseline (a check and timed runs of the start), then come steps in the
// searcher's order. Which configurations are tried, and what that takes, does not depend on when it
// happens: one run serves applications of every length. One thread.
class TuningRun {
 public:
  // Target and kernel must outlive this; `kernel` may be null. `start`: a row that runs correctly;
  // `first_pick`: the row of the model's first pick, if it has one. The application has compiled
  // the start and seen one launch of it.
  TuningRun(const RegretTarget& target, const KernelKnowledge* kernel, std::size_t start,
            const std::optional<FirstPick>& first_pick, const RegretOptions& options,
            std::uint64_t seed);

  // What the ledger must allow before the next piece of work: a high estimate of the baseline, then
  // what a typical step takes. (kappa is 1: the application waits.)
  Nanoseconds charge() const;
  Decision decide(const Outlook& outlook) const;
  bool asks_for_step(const Decision& decision) const {
    return idletune::asks_for_step(decision, evidence_);
  }
  // Does it: the baseline first, then one step per call. What it took; nothing when every
  // configuration has been tried.
  std::optional<Nanoseconds> advance();

  std::size_t running() const { return running_; }  // the row that launches run now
  std::uint64_t steps() const { return evidence_.evaluated; }

 private:
  template <typename Plan, typename RowOf>
  Nanoseconds play(Plan& plan, RowOf row_of);
  std::optional<Proposal> next_proposal();
  Nanoseconds make_baseline();
  StageContext context() const;
  StepOptions step_options() const;

  const RegretTarget& target_;
  const RecordedDevice& device_;
  const RegretOptions& options_;
  KernelQuantiles quantiles_;
  ShapeEvidence evidence_;
  StageEstimates estimates_;
  std::unique_ptr<Searcher> searcher_;
  std::size_t running_;
  Nanoseconds running_time_;
  std::optional<std::size_t> first_pick_row_;
  bool has_baseline_ = false;
};

}  // namespace idletune::regret
