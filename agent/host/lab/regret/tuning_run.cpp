#include "agent/host/lab/regret/tuning_run.hpp"

#include <utility>

namespace idletune::regret {
namespace {

// The application waits while it is tuned: time counts in full.
Ledger foreground() {
  LedgerOptions options;
  options.kappa_idle = 1;
  options.kappa_cpu = 1;
  return Ledger(options);
}

SearchSubject subject_of(const RegretTarget& target, std::size_t start,
                         const RegretOptions& options, std::uint64_t seed) {
  SearchSubject subject;
  subject.space = &target.space();
  subject.untuned = target.space().at(start);
  subject.shape = target.history().shape;
  subject.device = target.history().device;
  subject.seed = seed;
  subject.learner = options.learner;
  return subject;
}

}  // namespace

TuningRun::TuningRun(const RegretTarget& target, std::shared_ptr<const KernelModel> model,
                     std::size_t start, const RegretOptions& options, std::uint64_t seed)
    : target_(target),
      device_(target.device()),
      search_(subject_of(target, start, options, seed), std::move(model)),
      running_(start),
      running_time_(device_.run_time(start)) {
  for (std::size_t row = 0; row < device_.rows(); ++row) {
    if (device_.status(row) == TrialStatus::constraints) search_.exclude(target.space().at(row));
  }
  TrialRequest compile;
  TrialOutcome compiled;
  compiled.wall = device_.compile_time(start);
  search_.estimates().observe(compile, compiled, context());
  search_.estimates().no_step();
}

StageContext TuningRun::context() const {
  StageContext context;
  context.incumbent_run = running_time_;
  return context;
}

Nanoseconds TuningRun::charge() const {
  if (!has_baseline_) return search_.estimates().baseline(context());
  return search_.step_price(context(), foreground()).charge;
}

Decision TuningRun::decide(const Outlook& outlook) const {
  SearchSituation situation;
  situation.running = target_.space().at(running_);
  situation.running_time = running_time_;
  situation.expected_launches = outlook.launches_left;
  situation.step = search_.step_price(context(), foreground());
  situation.allowance = outlook.allowance;
  situation.promise = outlook.promise;
  return search_.weigh(situation);
}

// Plays a baseline or a trial to its end. `run_of`: what is known of a run of the row.
template <typename Plan, typename RowOf, typename RunOf>
Nanoseconds TuningRun::play(Plan& plan, RowOf row_of, RunOf run_of) {
  Nanoseconds cost{0};
  compiled_ = Nanoseconds{0};
  while (const std::optional<TrialRequest> request = plan.next()) {
    const TrialOutcome outcome = device_.outcome(*request, row_of());
    StageContext known = context();
    known.own_run = run_of();
    search_.estimates().observe(*request, outcome, known);
    cost += outcome.wall;
    if (outcome.stage == TrialStage::compile) compiled_ += outcome.wall;
    plan.on_outcome(outcome);
  }
  return cost;
}

Nanoseconds TuningRun::make_baseline() {
  has_baseline_ = true;
  // The program that the application runs serves the baseline too: no second compilation.
  ReferenceBaseline baseline(target_.history().shape, {}, true, false, StepOptions());
  const Nanoseconds cost = play(
      baseline, [&] { return running_; }, [&] { return running_time_; });
  search_.baseline_ended(StepResult::of(target_.space().at(running_), baseline));
  return cost;
}

std::optional<Nanoseconds> TuningRun::advance() {
  if (!has_baseline_) return make_baseline();
  const auto admission = [&](const Configuration& configuration) {
    return target_.space().index_of(configuration) == running_ ? Admission::refused
                                                               : Admission::admitted;
  };
  const std::optional<Proposal> proposal = search_.next(admission);
  if (!proposal) return std::nullopt;
  const std::optional<std::uint64_t> number = target_.space().index_of(proposal->configuration);
  if (!number) return std::nullopt;
  const auto row = static_cast<std::size_t>(*number);
  CandidateContext candidate;
  candidate.shape = target_.history().shape;
  candidate.incumbent_time = running_time_;
  CandidateTrial trial(StepOptions(), candidate);
  const Nanoseconds cost = play(
      trial, [&] { return trial.next_is_incumbent() ? running_ : row; },
      [&] { return trial.next_run(); });
  search_.step_ended(StepResult::of(*proposal, trial));
  if (trial.verdict() == TrialVerdict::adopt) {
    running_ = row;
    running_time_ = device_.run_time(row);
  }
  return cost;
}

std::optional<std::size_t> TuningRun::first_pick() const {
  if (!search_.first_pick()) return std::nullopt;
  const auto number = target_.space().index_of(search_.first_pick()->configuration);
  if (!number) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

}  // namespace idletune::regret
