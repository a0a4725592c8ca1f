#include "agent/tuning/shape_search.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "agent/scheduler/nanoseconds.hpp"
#include "agent/search/searchers.hpp"

namespace idletune {
namespace {

// What the model says.
void add_knowledge(const ShapeEvidence& evidence, const Configuration& running,
                   DecisionInput& input) {
  // Published configurations alone tell no times.
  const DevicePosterior* beliefs = input.outlook.beliefs;
  if (!evidence.first_pick || beliefs == nullptr || beliefs->source_count() == 0) return;
  input.first_pick_running = evidence.first_pick->configuration == running;
  // A pick that was tried and rejected predicts nothing any more.
  if (!input.first_pick_running && evidence.first_pick_tried) return;
  input.first_pick_relative = evidence.first_pick->expected_relative_performance;
}

}  // namespace

ShapeSearch::ShapeSearch(const SearchSubject& subject, std::shared_ptr<const KernelModel> model)
    : subject_(subject), model_(std::move(model)) {
  set_up();
}

ShapeSearch::ShapeSearch(const SearchSubject& subject, std::unique_ptr<Searcher> searcher)
    : subject_(subject), searcher_(std::move(searcher)) {
  if (subject_.has_baseline) searcher_->exclude(subject_.untuned);
}

void ShapeSearch::begin_anew(std::shared_ptr<const KernelModel> model) {
  model_ = std::move(model);
  hints_.clear();
  evidence_ = ShapeEvidence();
  estimates_ = StageEstimates();
  decision_.reset();
  set_up();
}

void ShapeSearch::set_up() {
  const KernelKnowledge* knowledge = model_ ? model_->knowledge : nullptr;
  SearcherOptions options;
  options.seed = subject_.seed;
  options.random_start = subject_.random_start;
  options.fallback = subject_.untuned;
  options.shape = subject_.shape;
  options.device = subject_.device;
  options.learner = subject_.learner;
  options.work_groups = subject_.work_groups.get();
  evidence_.first_pick.reset();
  if (knowledge != nullptr) {
    evidence_.first_pick = first_pick_of(*subject_.space, *knowledge, options);
  }
  // Where it runs without tuning, the baseline tries it.
  evidence_.first_pick_tried = is_first_pick(subject_.untuned) && subject_.has_baseline;
  first_pick_time_ = Nanoseconds{0};
  searcher_ = make_product_searcher(*subject_.space, knowledge, options);
  if (subject_.has_baseline) searcher_->exclude(subject_.untuned);
}

bool ShapeSearch::is_first_pick(const Configuration& configuration) const {
  return evidence_.first_pick && evidence_.first_pick->configuration == configuration;
}

bool ShapeSearch::is_baseline(const Configuration& configuration) const {
  return subject_.has_baseline && configuration == subject_.untuned;
}

void ShapeSearch::note_measured(const Configuration& configuration, Nanoseconds time) {
  for (auto hint = hints_.begin(); hint != hints_.end();) {
    hint = *hint == configuration ? hints_.erase(hint) : std::next(hint);
  }
  if (!is_first_pick(configuration)) return;
  evidence_.first_pick_tried = true;
  if (time.count() > 0) first_pick_time_ = time;
}

ProposalOrigin ShapeSearch::recall(const KnownMeasurement& known, bool explored) {
  const Configuration& configuration = known.configuration;
  const Observation& seen = known.observation;
  ProposalOrigin origin = ProposalOrigin::application;
  if (is_baseline(configuration)) {
    // No step of the search.
    if (seen.status == TrialStatus::correct) evidence_.saw(seen.run_time);
    if (seen.status != TrialStatus::correct) ++evidence_.rejected;
  } else {
    origin = searcher_->recall(configuration, known.drawn);
    if (explored && origin == ProposalOrigin::learned) origin = ProposalOrigin::random;
    evidence_.step_ended({configuration, origin}, seen.status,
                         known.taken_back ? Nanoseconds{0} : seen.run_time);
  }
  searcher_->tell(configuration, seen);
  note_measured(configuration, seen.run_time);
  return origin;
}

void ShapeSearch::renew(std::shared_ptr<const KernelModel> model,
                        Span<const KnownMeasurement> known) {
  model_ = std::move(model);
  set_up();
  for (const KnownMeasurement& each : known) {
    if (!is_baseline(each.configuration)) (void)searcher_->recall(each.configuration, each.drawn);
    searcher_->tell(each.configuration, each.observation);
    note_measured(each.configuration, each.observation.run_time);
  }
}

// The product's searcher begins with the first pick.
std::optional<Proposal> ShapeSearch::propose() {
  if (!first_pick_left() && !hints_.empty()) {
    const Proposal hint{hints_.back(), ProposalOrigin::portfolio};
    hints_.pop_back();
    searcher_->exclude(hint.configuration);
    return hint;
  }
  evidence_.first_pick_tried = true;
  return searcher_->ask();
}

bool ShapeSearch::admit(const Proposal& proposal, Admission admission) {
  if (admission == Admission::impossible) {
    if (proposal.origin == ProposalOrigin::random) evidence_.draw_was_useless();
    searcher_->tell(proposal.configuration, {TrialStatus::constraints, {}, {}});
  }
  return admission == Admission::admitted;
}

Observation ShapeSearch::told(const StepResult& result) {
  Observation seen = result.observation();
  seen.run_time = evidence_.as_at_first(seen.run_time);
  searcher_->tell(result.proposal.configuration, seen);
  note_measured(result.proposal.configuration, seen.run_time);
  return seen;
}

void ShapeSearch::baseline_ended(const StepResult& result) {
  estimates_.no_step();
  if (result.timed()) evidence_.saw(told(result).run_time);
}

void ShapeSearch::step_ended(const StepResult& result, bool counts) {
  if (result.proposal.origin == ProposalOrigin::application) {
    searcher_->exclude(result.proposal.configuration);
  }
  evidence_.step_ended(result.proposal, result.status, told(result).run_time, counts);
  estimates_.step_ended();
}

void ShapeSearch::took_back(Nanoseconds drawn) {
  if (drawn.count() > 0) evidence_.draws.take_back(drawn);
  evidence_.best_here = Nanoseconds{0};
}

void ShapeSearch::clock_changed(Nanoseconds before, Nanoseconds now) {
  if (before.count() > 0 && now.count() > 0) evidence_.clock *= real_ns(now) / real_ns(before);
  estimates_.no_step();  // what was measured for it
}

StepPrice ShapeSearch::step_price(const StageContext& context, const Ledger& ledger,
                                  bool compiled) const {
  StepPrice price;
  price.time = estimates_.typical_step(context);
  StageEstimates::StepCost high = estimates_.high_step(context);
  if (compiled) price.time.cpu = high.cpu = Nanoseconds{0};
  // Compiling takes no longer by a slower clock. It counts as if: for as many launches as before.
  const Nanoseconds cpu = std::max(price.time.cpu, evidence_.as_now(price.time.cpu));
  price.charge = ledger.cpu_charge(cpu) + ledger.idle_charge(price.time.device);
  price.charge_high = ledger.cpu_charge(high.cpu) + ledger.idle_charge(high.device);
  return price;
}

DecisionInput decision_input(const ShapeEvidence& evidence, const SearchSubject& subject,
                             const SearchSituation& situation, const SearchOutlook& outlook) {
  DecisionInput input;
  input.current = situation.running_time;
  input.expected_launches = situation.expected_launches;
  const StageEstimates::StepCost& step = situation.step.time;
  input.launches_per_step = situation.launches_per_second * real_seconds(step.cpu + step.device);
  // The weights are in the charge already.
  input.step_cost = situation.step.charge;
  input.step_cost_high = situation.step.charge_high;
  input.kappa = 1;
  input.allowance = situation.allowance;
  input.promise = situation.promise;
  input.outlook = outlook;
  input.gap_needed = situation.gap_needed;
  input.longest_gap = situation.longest_gap;
  input.clock = evidence.clock;
  input.draws = &evidence.draws;
  input.tried = evidence.evaluated;
  input.best_here = evidence.best_here;
  const std::uint64_t valid = subject.valid_configurations > 0 ? subject.valid_configurations
                                                               : subject.space->valid_count();
  const std::uint64_t tried = evidence.evaluated + (subject.has_baseline ? 1 : 0);
  if (valid > 0) input.remaining_configurations = valid - std::min(valid, tried);
  input.target_ratio = subject.target_ratio;
  input.wanted_probability = subject.wanted_probability;
  input.adoption_margin = subject.adoption_margin;
  add_knowledge(evidence, situation.running, input);
  return input;
}

Decision ShapeSearch::weigh(const SearchSituation& situation) const {
  return idletune::decide(decision_input(evidence_, subject_, situation, outlook()));
}

const Decision& ShapeSearch::decide(const SearchSituation& situation) {
  decision_ = weigh(situation);
  return *decision_;
}

}  // namespace idletune
