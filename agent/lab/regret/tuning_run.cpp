#include "agent/lab/regret/tuning_run.hpp"

#include <idletune/learning.hpp>

#include "agent/search/searchers.hpp"

namespace idletune::regret {

TuningRun::TuningRun(const RegretTarget& target, const KernelKnowledge* kernel, std::size_t start,
                     const std::optional<FirstPick>& first_pick, const RegretOptions& options,
                     std::uint64_t seed)
    : target_(target),
      device_(target.device()),
      options_(options),
      running_(start),
      running_time_(device_.run_time(start)) {
  const Space& space = target.space();
  SearcherOptions search;
  search.seed = seed;
  search.shape = target.history().shape;
  search.device = target.history().device;
  search.learner = forest_learner();
  searcher_ = make_product_searcher(space, kernel, search);
  if (kernel != nullptr) {
    quantiles_ = KernelQuantiles(*kernel);
    evidence_.knowledge = kernel;
    evidence_.quantiles = &quantiles_;
    evidence_.first_pick = first_pick;
  }
  for (std::size_t row = 0; row < device_.rows(); ++row) {
    if (device_.status(row) == TrialStatus::constraints) searcher_->exclude(space.at(row));
  }
  const Configuration running = space.at(start);
  searcher_->exclude(running);
  if (first_pick) {
    first_pick_row_ = space.index_of(first_pick->configuration);
    if (first_pick_row_ == start) evidence_.first_pick_tried = true;
  }
  searcher_->tell(running, {TrialStatus::correct, running_time_, device_.compile_time(start)});
  TrialRequest compile;
  TrialOutcome compiled;
  compiled.wall = device_.compile_time(start);
  estimates_.observe(compile, compiled, context());
}

StepOptions TuningRun::step_options() const {
  StepOptions step;
  step.margin = options_.adoption_margin;
  return step;
}

StageContext TuningRun::context() const {
  StageContext context;
  context.incumbent_run = running_time_;
  return context;
}

Nanoseconds TuningRun::charge() const {
  if (!has_baseline_) return estimates_.baseline(context());
  const StageEstimates::StepCost step = estimates_.typical_step(context());
  return step.cpu + step.device;
}

Decision TuningRun::decide(const Outlook& outlook) const {
  DecisionSituation situation;
  situation.running_time = running_time_;
  situation.first_pick_running = first_pick_row_ && *first_pick_row_ == running_;
  situation.expected_launches = outlook.launches_left;
  situation.step = estimates_.typical_step(context());
  situation.step_charge = situation.step.cpu + situation.step.device;
  const StageEstimates::StepCost high = estimates_.high_step(context());
  situation.step_charge_high = high.cpu + high.device;
  situation.promise = outlook.promise;
  // Before the baseline the ledger has to allow that only; the decision is whether to begin at all.
  if (has_baseline_) {
    situation.allowance = outlook.allowance;
  } else if (situation.promise) {
    situation.promise->charged += estimates_.baseline(context());
  }
  situation.outlook = searcher_->outlook();
  situation.valid_configurations = target_.space().valid_count();
  situation.target_ratio = options_.well_performing_ratio;
  situation.wanted_probability = options_.wanted_probability;
  situation.adoption_margin = options_.adoption_margin;
  return idletune::decide(decision_input(evidence_, situation));
}

// Plays a baseline or a trial to its end.
template <typename Plan, typename RowOf>
Nanoseconds TuningRun::play(Plan& plan, RowOf row_of) {
  Nanoseconds cost{0};
  while (const std::optional<TrialRequest> request = plan.next()) {
    const TrialOutcome outcome = device_.outcome(*request, row_of());
    estimates_.observe(*request, outcome, context());
    cost += outcome.wall;
    plan.on_outcome(outcome);
  }
  return cost;
}

Nanoseconds TuningRun::make_baseline() {
  has_baseline_ = true;
  // The program that the application runs serves the baseline too: no second compilation.
  ReferenceBaseline baseline(target_.history().shape, {}, true, false, step_options());
  const Nanoseconds cost = play(baseline, [&] { return running_; });
  evidence_.saw(baseline.time());
  return cost;
}

std::optional<Proposal> TuningRun::next_proposal() {
  if (std::optional<Proposal> first = evidence_.take_first_pick()) {
    searcher_->exclude(first->configuration);
    if (first_pick_row_ != running_) return first;
  }
  return searcher_->ask();
}

std::optional<Nanoseconds> TuningRun::advance() {
  if (!has_baseline_) return make_baseline();
  const std::optional<Proposal> proposal = next_proposal();
  if (!proposal) return std::nullopt;
  const std::optional<std::uint64_t> number = target_.space().index_of(proposal->configuration);
  if (!number) return std::nullopt;
  const auto row = static_cast<std::size_t>(*number);
  CandidateContext candidate;
  candidate.shape = target_.history().shape;
  candidate.incumbent_time = running_time_;
  CandidateTrial trial(step_options(), candidate);
  const Nanoseconds cost = play(trial, [&] { return trial.next_is_incumbent() ? running_ : row; });
  searcher_->tell(proposal->configuration,
                  {trial.status(), trial.candidate_time(), trial.compile_time()});
  evidence_.step_ended(*proposal, trial.status(), trial.candidate_time());
  if (trial.verdict() == TrialVerdict::adopt) {
    running_ = row;
    running_time_ = device_.run_time(row);
  }
  return cost;
}

}  // namespace idletune::regret
