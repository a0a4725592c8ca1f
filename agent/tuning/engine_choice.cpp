// Which shape is next, and what is done for it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/scheduler/nanoseconds.hpp"
#include "agent/tuning/tuning_engine.hpp"

namespace idletune::detail {
namespace {

constexpr std::uint32_t kStreak = 8;  // steps in a row for the same shape

}  // namespace

double TuningEngine::expected_launches(const ShapeTask& task) const {
  const double launches = static_cast<double>(task.launches());
  if (task.said_launches >= 0) {
    return std::max(0.0, task.said_launches - (launches - static_cast<double>(task.said_at)));
  }
  return options_.unknown_horizon * (launches + static_cast<double>(task.past_launches));
}

// 0 until a stage did not fit: then what the longest one takes, as the patience of start_stage sees
// it.
Nanoseconds TuningEngine::gap_needed(const ShapeTask& task) const {
  if (task.misses == 0) return Nanoseconds{0};
  const StageEstimates& estimates = task.search.estimates();
  return estimates.relaxed(TrialStage::prepare, estimates.longest_device_stage(stage_context(task)),
                           task.misses);
}

// Of the next step. A first pick that another shape's trial has compiled costs no compilation.
StepPrice TuningEngine::price(const ShapeTask& task) const {
  const bool compiled = task.search.first_pick_left() &&
                        task.kernel.contents.compiled(task.search.first_pick()->configuration);
  return task.search.step_price(stage_context(task), accounts_.ledger(), compiled);
}

void TuningEngine::update_decision(ShapeTask& task, const StepPrice& step) {
  SearchSituation situation;
  situation.running = task.running();
  situation.running_time = task.running_time;
  situation.expected_launches = expected_launches(task);
  situation.step = step;
  const Nanoseconds since = now() - task.first_seen;
  if (since.count() > 0 && task.launches() > 1) {
    situation.launches_per_second = static_cast<double>(task.launches()) / real_seconds(since);
  }
  situation.allowance = accounts_.ledger().allowance();
  situation.promise = accounts_.promise(task);
  situation.gap_needed = gap_needed(task);
  situation.longest_gap = longest_gap_;
  task.search.decide(situation);
}

// Where it says that a shape has to wait, it notes for what.
TuningEngine::Want TuningEngine::want(ShapeTask& task, TimeSource source) {
  task.blocker = Blocker::none;
  if (task.baseline_failed || task.recalled) return Want::nothing;
  if (is<Installing>(task.work)) return Want::nothing;
  if (next_request(task.work)) return Want::unfinished;
  const bool full = task.variants.racers() == InPlaceRace::kCandidates;
  // New data, or a new model: the search begins anew after the race.
  const bool stale =
      task.race != nullptr && (task.lent || task.search.model() != task.kernel.model);
  if (full || stale) return Want::nothing;
  if (task.exhausted) return Want::nothing;
  if (task.default_time.count() == 0) {
    const Nanoseconds baseline = task.search.estimates().baseline(stage_context(task));
    task.blocker = accounts_.blocker(task, source, accounts_.ledger().idle_charge(baseline));
    return task.blocker == Blocker::none ? Want::beginning : Want::saving;
  }
  const Want step = task.search.first_pick_left() ? Want::beginning : Want::search;
  if (source == TimeSource::start_up) return step == Want::beginning ? step : Want::nothing;
  const StepPrice price_now = price(task);
  update_decision(task, price_now);
  if (source == TimeSource::idle) return want_of_decision(task, price_now.charge);
  task.blocker = accounts_.blocker(task, source, Nanoseconds{0});
  return task.blocker == Blocker::none ? step : Want::nothing;
}

// In the application's idle time decision and ledger have the say.
TuningEngine::Want TuningEngine::want_of_decision(ShapeTask& task, Nanoseconds charge) {
  const Decision& decision = *task.search.decision();
  const bool has_pick = task.search.first_pick_left();
  if (decision.verdict == Verdict::wait) {
    task.gap_needed = gap_needed(task);
    task.blocker = task.gap_needed > longest_gap_ ? Blocker::gap : Blocker::ledger;
    if (task.blocker == Blocker::gap) {
      ++task.misses;
      return Want::nothing;
    }
    return has_pick ? Want::saving : Want::nothing;
  }
  if (!task.search.asks_for_step(decision)) return Want::nothing;
  task.blocker = accounts_.blocker(task, TimeSource::idle, charge);
  if (task.blocker == Blocker::none) {
    return has_pick ? Want::beginning : Want::search;
  }
  return has_pick ? Want::saving : Want::nothing;
}

// Kernel time still to come, per step made so far, so that no shape starves.
double TuningEngine::worth(const ShapeTask& task, Want want) const {
  // The data of another shape would have to be prepared first, which costs a run of the reference.
  if (want == Want::search && &task == favourite_ && streak_ < kStreak) return HUGE_VAL;
  const double launches = std::max(1.0, expected_launches(task));
  const double time = std::max<double>(1.0, static_cast<double>(task.running_time.count()));
  return launches * time / (1.0 + static_cast<double>(task.search.evidence().evaluated));
}

// First picks come before any search, the one with the most to gain first. As long as the ledger
// does not allow one yet, it is not spent on searching either.
ShapeTask* TuningEngine::most_wanting(TimeSource source, ShapeTask* only) {
  ShapeTask* best = nullptr;
  Want most = Want::nothing;
  double best_worth = -1;
  bool saving = false;
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (!may_tune(*kernel, source)) continue;
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (only != nullptr && task.get() != only) continue;
      const Want wanted = want(*task, source);
      saving = saving || wanted == Want::saving;
      if (wanted < Want::search || wanted < most) continue;
      const double worth_now = worth(*task, wanted);
      if (wanted == most && worth_now <= best_worth) continue;
      most = wanted;
      best = task.get();
      best_worth = worth_now;
    }
  }
  return saving && most == Want::search ? nullptr : best;
}

ShapeTask* TuningEngine::choose(TimeSource source, ShapeTask* only) {
  if (options_.mode != Mode::tune) return nullptr;
  if (current_ != nullptr && (only == nullptr || only == current_) &&
      may_tune(current_->kernel, source) && next_request(current_->work)) {
    return current_;
  }
  while (ShapeTask* task = most_wanting(source, only)) {
    if (next_request(task->work) || begin_work(*task, source)) return task;
    if (!task->exhausted) return nullptr;
  }
  return nullptr;
}

// False: there is nothing to do for the shape after all.
bool TuningEngine::begin_work(ShapeTask& task, TimeSource source) {
  if (task.default_time.count() > 0) return propose(task, source);
  const Configuration& configuration = task.slot.fallback.configuration;
  const RunnerContents& contents = task.kernel.contents;
  task.work.emplace<MeasuringDefault>(MeasuringDefault{
      ReferenceBaseline(task.slot.shape, configuration, contents.compiled(configuration),
                        contents.prepared(task.slot.shape)[0], step_options())});
  return true;
}

Admission TuningEngine::admission(const ShapeTask& task, const Configuration& configuration) const {
  journal::Trial trial = task.identity;
  trial.configuration = configuration;
  const journal::TrialKey key = trial.key();
  const journal::State& state = journal_.state();
  if (state.is_quarantined(key) || state.is_suspect(key)) return Admission::refused;
  // Nor what was fatal on other data.
  trial.driver ^= task.captured;
  if (state.is_quarantined(trial.key())) return Admission::refused;
  if (configuration == task.running()) return Admission::refused;
  for (std::size_t i = 0; i < task.variants.racers(); ++i) {
    if (configuration == task.variants.racer(i).configuration) return Admission::refused;
  }
  // A board without a compiler runs what came prebuilt.
  if (!task.kernel.state->can_be_built(configuration)) return Admission::impossible;
  const bool launchable = task.kernel.state->package().plan(task.slot.shape, configuration).ok();
  return launchable ? Admission::admitted : Admission::impossible;
}

std::optional<Proposal> TuningEngine::take_proposal(ShapeTask& task, TimeSource source) {
  const auto admit = [&](const Configuration& configuration) {
    return admission(task, configuration);
  };
  if (source == TimeSource::start_up) return task.search.next_first_pick(admit);
  if (!task.class_hinted && task.runs_for_class()) {
    task.class_hinted = true;
    task.search.add_hint(task.slot.of_class.configuration);
  }
  if (std::optional<Proposal> proposal = task.search.next(admit)) return proposal;
  return take_suspect(task);
}

// Suspects come last, and only where their crash would not be ours.
std::optional<Proposal> TuningEngine::take_suspect(ShapeTask& task) {
  if (!ensure_runner(task.kernel) || !task.kernel.runner->isolated()) return std::nullopt;
  std::vector<Configuration>& tried = task.suspects_tried;
  std::optional<Configuration> suspect;
  journal_.state().for_each_suspect([&](const journal::Suspect& entry) {
    if (entry.key.shape_key() != task.identity.shape_key()) return;
    for (const Configuration& configuration : tried) {
      if (configuration == entry.trial.configuration) return;
    }
    suspect = entry.trial.configuration;
  });
  if (!suspect) return std::nullopt;
  tried.push_back(*suspect);
  return Proposal{*suspect, ProposalOrigin::portfolio};
}

CandidateContext TuningEngine::candidate_context(const ShapeTask& task,
                                                 const Configuration& candidate,
                                                 const Configuration& incumbent) const {
  const RunnerContents& contents = task.kernel.contents;
  CandidateContext context;
  context.shape = task.slot.shape;
  context.candidate = candidate;
  context.incumbent = incumbent;
  context.candidate_compiled = contents.compiled(candidate);
  context.incumbent_compiled = contents.compiled(incumbent);
  context.prepared = contents.prepared(task.slot.shape);
  const CheckedClass* checked =
      task.kernel.known({task.kernel.state->package(), candidate, task.slot.shape});
  context.checked_for_class = checked != nullptr && checked->right;
  return context;
}

JournaledTrial TuningEngine::journaled_trial(const ShapeTask& task,
                                             const Configuration& configuration) {
  journal::Trial trial = task.identity;
  trial.configuration = configuration;
  return JournaledTrial(journal_, trial);
}

bool TuningEngine::propose(ShapeTask& task, TimeSource source) {
  const std::optional<Proposal> proposal = take_proposal(task, source);
  if (!proposal) {
    task.exhausted = source != TimeSource::start_up;
    return false;
  }
  const KernelTask& kernel = task.kernel;
  const Configuration& configuration = proposal->configuration;
  CandidateContext context = candidate_context(task, configuration, task.running());
  context.incumbent_time = task.running_time;
  if (task.variants.adopted() != nullptr) {
    // What is adopted instead of it makes its setup once more, or for the first time.
    const VariantScratch* setup = task.setup();
    context.launches_left = std::max(1.0, expected_launches(task));
    context.incumbent_was_set_up =
        setup == nullptr || setup->setups_made.load(std::memory_order_relaxed) > 0;
  }
  // Launches that time a candidate make no setup for it: the application would pay for that.
  const Result<LaunchPlan> plan = kernel.state->package().plan(task.slot.shape, configuration);
  const bool has_setup = plan.ok() && !plan->setup().empty();
  StepOptions step = step_options();
  // What runs for its class is the class's first candidate: it is compared with the default.
  step.finals = !kernel.in_place.allowed || !kernel.state->profiling_available() || has_setup ||
                task.runs_for_class() || source != TimeSource::idle;
  task.work.emplace<TryingCandidate>(TryingCandidate{*proposal, CandidateTrial(step, context),
                                                     journaled_trial(task, configuration)});
  return true;
}

}  // namespace idletune::detail
