// The tuner of an application, step by step, on a recorded device: the agent's own search and
// trials, without its threads, files and gaps. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "agent/host/lab/regret/regret.hpp"
#include "agent/scheduler/step_plan.hpp"
#include "agent/tuning/shape_search.hpp"

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
  // The target must outlive this; `model` may be null. `start`: a row that runs correctly. The
  // application has compiled the start and seen one launch of it.
  TuningRun(const RegretTarget& target, std::shared_ptr<const KernelModel> model, std::size_t start,
            const RegretOptions& options, std::uint64_t seed);

  // What the ledger must allow before the next piece of work: a high estimate of the baseline, then
  // what a typical step takes. (kappa is 1: the application waits.)
  Nanoseconds charge() const;
  // Before the baseline nothing is decided: it is made as soon as the ledger allows it.
  bool has_baseline() const { return has_baseline_; }
  Decision decide(const Outlook& outlook) const;
  bool asks_for_step(const Decision& decision) const { return search_.asks_for_step(decision); }
  // Does it: the baseline first, then one step per call. What it took; nothing when every
  // configuration has been tried.
  std::optional<Nanoseconds> advance();
  Nanoseconds compiled() const { return compiled_; }  // of that, what compiling took

  std::size_t running() const { return running_; }  // the row that launches run now
  std::uint64_t steps() const { return search_.evidence().evaluated; }
  // The row of the model's first pick for an application with this start; none without one.
  std::optional<std::size_t> first_pick() const;

 private:
  template <typename Plan, typename RowOf, typename RunOf>
  Nanoseconds play(Plan& plan, RowOf row_of, RunOf run_of);
  Nanoseconds make_baseline();
  StageContext context() const;

  const RegretTarget& target_;
  const RecordedDevice& device_;
  ShapeSearch search_;
  std::size_t running_;
  Nanoseconds running_time_;
  bool has_baseline_ = false;
  Nanoseconds compiled_{0};
};

}  // namespace idletune::regret
