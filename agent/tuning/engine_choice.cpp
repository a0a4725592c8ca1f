// The engine's choices: which shape is worth work, and what is tried next for it.
#include <algorithm>
#include <cmath>

#include "agent/tuning/tuning_engine.hpp"

namespace idletune::detail {
namespace {

// Launches whose time nobody could measure (a queue without profiling) before the default is timed.
constexpr std::uint64_t kBlindLaunches = 100;

constexpr std::uint32_t kStreak = 8;  // steps in a row for the same shape

double seconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-9; }

}  // namespace

double TuningEngine::expected_launches(const ShapeTask& task) const {
  const double launches = static_cast<double>(task.launches());
  if (task.said_launches >= 0) {
    return std::max(0.0, task.said_launches - (launches - static_cast<double>(task.said_at)));
  }
  return options_.unknown_horizon * (launches + static_cast<double>(task.past_launches));
}

StepOptions TuningEngine::step_options() const {
  StepOptions step;
  step.margin = options_.adoption_margin;
  step.shortest_deadline = options_.run_deadline;
  return step;
}

Nanoseconds TuningEngine::step_charge(const ShapeTask& task) const {
  const StageEstimates::StepCost cost = task.estimates.typical_step(stage_context(task));
  return ledger_.cpu_charge(cost.cpu) + ledger_.idle_charge(cost.device);
}

bool TuningEngine::may_spend(const ShapeTask& task, TimeSource source, Nanoseconds charge) const {
  if (task.kernel.device->ended()) return false;
  if (options_.max_tuning.count() > 0 && device_time_ >= options_.max_tuning) return false;
  if (source != TimeSource::idle) return true;
  if (task.default_time.count() == 0 && !task.kernel.state->profiling_available()) {
    // Nothing has been timed, so nothing was credited either: timing the default is what starts the
    // account, once the application has shown that it means it.
    return task.launches() >= kBlindLaunches;
  }
  return ledger_.allows(charge);
}

// 0 until a stage did not fit: then what the longest one takes, as the patience of start_stage sees
// it.
Nanoseconds TuningEngine::gap_needed(const ShapeTask& task) const {
  if (task.misses == 0) return Nanoseconds{0};
  return task.estimates.relaxed(
      TrialStage::prepare, task.estimates.longest_device_stage(stage_context(task)), task.misses);
}

// What the shape's own launches of this session can cover. Savings are the ledger's affair.
Promise TuningEngine::promise(const ShapeTask& task) const {
  Promise promise;
  promise.share = options_.overhead_limit;
  promise.untuned = task.default_time;
  const double past =
      static_cast<double>(task.default_time.count()) * static_cast<double>(task.launches());
  promise.untuned_past = Nanoseconds(static_cast<std::int64_t>(std::min(past, 9e18)));
  promise.charged = task.charged;
  return promise;
}

void TuningEngine::update_decision(ShapeTask& task) {
  DecisionSituation situation;
  situation.running_time = task.running_time;
  situation.first_pick_running =
      task.evidence.first_pick && task.running() == task.evidence.first_pick->configuration;
  situation.expected_launches = expected_launches(task);
  situation.step = task.estimates.typical_step(stage_context(task));
  const Nanoseconds since = now() - task.first_seen;
  if (since.count() > 0 && task.launches() > 1) {
    situation.launches_per_second = static_cast<double>(task.launches()) / seconds(since);
  }
  situation.step_charge = step_charge(task);
  const StageEstimates::StepCost high = task.estimates.high_step(stage_context(task));
  situation.step_charge_high = ledger_.cpu_charge(high.cpu) + ledger_.idle_charge(high.device);
  situation.allowance = ledger_.allowance();
  situation.promise = promise(task);
  situation.outlook = task.searcher->outlook();
  situation.gap_needed = gap_needed(task);
  situation.longest_gap = longest_gap_;
  situation.valid_configurations = task.kernel.state->package().space().valid_count();
  situation.target_ratio = options_.well_performing_ratio;
  situation.wanted_probability = options_.wanted_probability;
  situation.adoption_margin = options_.adoption_margin;
  task.decision = decide(decision_input(task.evidence, situation));
  task.decided = true;
}

bool TuningEngine::wants_work(ShapeTask& task, TimeSource source) {
  if (task.baseline_failed || task.exhausted || task.install || task.recalled) return false;
  if (task.in_place && task.in_place->checked()) return false;  // launches do the rest
  if (next_request(task)) return true;                          // what was begun is finished
  if (task.default_time.count() == 0) {
    // The default's own time per launch is unknown until the first sample or the baseline.
    return may_spend(task, source,
                     ledger_.idle_charge(task.estimates.baseline(stage_context(task))));
  }
  if (source == TimeSource::start_up) {
    return !task.evidence.first_pick_tried && task.evidence.first_pick;
  }
  update_decision(task);
  if (source == TimeSource::foreground) return may_spend(task, source, Nanoseconds{0});
  if (task.decision.verdict == Verdict::wait && gap_needed(task) > longest_gap_) ++task.misses;
  return asks_for_step(task.decision, task.evidence) && may_spend(task, source, step_charge(task));
}

ShapeTask* TuningEngine::choose(TimeSource source, ShapeTask* only) {
  if (options_.mode != Mode::tune) return nullptr;
  if (current_ != nullptr && (only == nullptr || only == current_) && can_tune(current_->kernel) &&
      next_request(*current_)) {
    return current_;
  }
  ShapeTask* best = nullptr;
  double best_worth = -1;
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (!can_tune(*kernel)) continue;
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (only != nullptr && task.get() != only) continue;
      if (!wants_work(*task, source)) continue;
      // What has not been timed comes first; then the largest kernel time per step made so far, so
      // that no shape starves.
      const double weight = std::max(1.0, expected_launches(*task)) *
                            std::max<double>(1.0, static_cast<double>(task->running_time.count()));
      double worth = weight / (1.0 + static_cast<double>(task->evidence.evaluated));
      // The data of another shape would have to be prepared first, which costs a run of the
      // reference.
      if (task.get() == favourite_ && streak_ < kStreak) worth = 1e20;
      if (task->default_time.count() == 0) worth = 1e30;
      if (worth > best_worth) {
        best_worth = worth;
        best = task.get();
      }
    }
  }
  if (best == nullptr || next_request(*best)) return best;
  if (begin_work(*best, source)) return best;
  return best->exhausted ? choose(source, only) : nullptr;
}

bool TuningEngine::begin_work(ShapeTask& task, TimeSource source) {
  if (task.default_time.count() == 0) {
    task.baseline.emplace(task.slot.shape, task.slot.fallback.configuration, false, false,
                          step_options());
    return true;
  }
  return propose(task, source);
}

bool TuningEngine::refused_by_journal(const ShapeTask& task,
                                      const Configuration& configuration) const {
  journal::Trial trial = task.identity;
  trial.configuration = configuration;
  const journal::TrialKey key = trial.key();
  const journal::State& state = journal_.state();
  return state.is_quarantined(key) || state.is_suspect(key);
}

bool TuningEngine::take_proposal(ShapeTask& task, Proposal& proposal, TimeSource source) {
  // The model's first pick goes first, whatever the searcher's order.
  const std::optional<Proposal> first = task.evidence.take_first_pick();
  if (source == TimeSource::start_up && !first) return false;
  if (first) {
    proposal = *first;
    task.searcher->exclude(proposal.configuration);
    if (!refused_by_journal(task, proposal.configuration) &&
        proposal.configuration != task.running()) {
      return true;
    }
    if (source == TimeSource::start_up) return false;
  }
  while (!task.hints.empty()) {
    proposal = {task.hints.back(), ProposalOrigin::portfolio};
    task.hints.pop_back();
    task.searcher->exclude(proposal.configuration);
    if (!refused_by_journal(task, proposal.configuration)) return true;
  }
  while (std::optional<Proposal> asked = task.searcher->ask()) {
    proposal = *asked;
    if (refused_by_journal(task, proposal.configuration)) continue;
    if (task.kernel.state->package().plan(task.slot.shape, proposal.configuration).ok())
      return true;
    // Not launchable at this shape: no cost, but a draw that found nothing.
    if (proposal.origin == ProposalOrigin::random) task.evidence.draw_was_useless();
    task.searcher->tell(proposal.configuration, {TrialStatus::constraints, {}, {}});
  }
  return false;
}

bool TuningEngine::propose(ShapeTask& task, TimeSource source) {
  Proposal proposal;
  if (!take_proposal(task, proposal, source)) {
    // Suspects come last, and only where their crash would not be ours.
    std::optional<Configuration> suspect;
    if (source != TimeSource::start_up && ensure_runner(task.kernel) &&
        task.kernel.runner->isolated()) {
      journal_.state().for_each_suspect([&](const journal::Suspect& entry) {
        if (entry.key.shape_key() != task.identity.shape_key()) return;
        for (const Configuration& tried : task.suspects_tried) {
          if (tried == entry.trial.configuration) return;
        }
        suspect = entry.trial.configuration;
      });
    }
    if (!suspect) {
      task.exhausted = source != TimeSource::start_up;
      return false;
    }
    task.suspects_tried.push_back(*suspect);
    proposal = {*suspect, ProposalOrigin::portfolio};
  }
  task.proposal = proposal;
  const KernelTask& kernel = task.kernel;
  if (kernel.in_place.allowed && kernel.state->profiling_available() &&
      source == TimeSource::idle) {
    task.in_place.emplace(step_options(), task.slot.shape, proposal.configuration,
                          kernel.in_place.max_slowdown);
    return true;
  }
  CandidateContext context;
  if (kernel.prepared_for == &task) context.prepared = kernel.prepared;
  context.shape = task.slot.shape;
  context.candidate = proposal.configuration;
  context.incumbent = task.running();
  context.incumbent_time = task.running_time;
  task.trial.emplace(step_options(), context);
  return true;
}

}  // namespace idletune::detail
