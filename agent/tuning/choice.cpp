#include "agent/tuning/choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/scheduler/nanoseconds.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

constexpr std::uint32_t kStreak = 8;  // steps in a row for the same shape
// Calls' time that may be lost by a candidate: by one of which nothing is known, and by the model's.
constexpr int kLostInRace = 3, kLostByPick = 1;

Where retry_place(const ShapeTask& task) {
  return task.kernel.called ? Where::launches : Where::helper;
}

}  // namespace

// 0 until a stage did not fit: then what the longest one takes, as the patience of start_stage sees
// it.
Nanoseconds Choice::gap_needed(const ShapeTask& task) const {
  if (task.misses == 0) return Nanoseconds{0};
  const StageEstimates& estimates = task.search.estimates();
  return estimates.relaxed(TrialStage::prepare,
                           estimates.longest_device_stage(core_.stage_context(task)), task.misses);
}

// Of the next step. A first pick that another shape's trial has compiled costs no compilation.
StepPrice Choice::price(const ShapeTask& task) const {
  if (task.kernel.called) {
    StepPrice race;
    const int lost = task.search.first_pick_left() ? kLostByPick : kLostInRace;
    race.charge = race.charge_high = lost * task.launch_time();
    return race;
  }
  const bool compiled = task.search.first_pick_left() &&
                        task.kernel.contents.compiled(task.search.first_pick()->configuration);
  return task.search.step_price(core_.stage_context(task), accounts_.ledger(), compiled);
}

void Choice::update_decision(ShapeTask& task, const StepPrice& step) {
  SearchSituation situation;
  situation.running = task.running();
  situation.running_time = task.running_time;
  situation.expected_launches = core_.expected_launches(task);
  situation.step = step;
  const Nanoseconds since = now() - task.first_seen;
  if (since.count() > 0 && task.launches() > 1) {
    situation.launches_per_second = static_cast<double>(task.launches()) / real_seconds(since);
  }
  situation.allowance = accounts_.ledger().allowance();
  situation.promise = accounts_.promise(task);
  situation.gap_needed = gap_needed(task);
  situation.longest_gap = core_.longest_gap_;
  task.search.decide(situation);
}

bool Choice::pass_over(ShapeTask& task) const {
  if (task.gap_needed <= core_.longest_gap_) return false;
  task.passed_over = core_.runs_;
  return true;
}

// Where it says that a shape has to wait, it notes for what.
Choice::Want Choice::want(ShapeTask& task, TimeSource source) {
  if (passed_over(task)) return Want::nothing;
  task.blocker = Blocker::none;
  const bool recalled = task.recalled && task.work.is(Work::resting);
  if (task.baseline_failed || recalled || now() < task.rests_until) return Want::nothing;
  if (task.work.is(Work::installing)) return Want::nothing;
  if (task.work.has_next()) {
    task.blocker = held_by(task, source);
    return task.blocker == Blocker::none ? Want::unfinished : Want::nothing;
  }
  const KernelTask& kernel = task.kernel;
  const bool full = task.variants.racers() == LaunchTurns::kCandidates;
  // Who joins makes a race begin anew: candidates that are ready at once would keep it from ever
  // ending, and what is faster from being adopted.
  const bool begun = task.race != nullptr && task.race->times.field().rounds > 0;
  // New data, or a new model: the search begins anew after the race.
  const bool stale = task.race != nullptr && (task.lent || task.search.model() != kernel.model);
  if (full || begun || stale) return Want::nothing;
  const bool missed = suspect(task, true).has_value();
  if (task.exhausted && !missed && comeback(task) == nullptr) return Want::nothing;
  const bool untimed = task.default_time.count() == 0 || !kernel.state->profiling_available();
  if (kernel.called && untimed) return Want::nothing;
  if (task.default_time.count() == 0) {
    const Nanoseconds baseline = task.search.estimates().baseline(core_.stage_context(task));
    task.blocker = accounts_.blocker(task, source, accounts_.ledger().idle_charge(baseline));
    if (task.blocker == Blocker::none) return Want::beginning;
    // Without times it waits for launches of its own: what others spend keeps it from nothing.
    return task.kernel.state->profiling_available() ? Want::saving : Want::nothing;
  }
  const Want returning = want_of_return(task, source, missed);
  if (returning != Want::nothing) return returning;
  const Want step = task.search.first_pick_left() ? Want::beginning : Want::search;
  if (source == TimeSource::start_up) return step == Want::beginning ? step : Want::nothing;
  const StepPrice price_now = price(task);
  update_decision(task, price_now);
  if (source == TimeSource::idle) return want_of_decision(task, price_now.charge);
  task.blocker = accounts_.blocker(task, source, Nanoseconds{0});
  return task.blocker == Blocker::none ? step : Want::nothing;
}

// Why what was begun does not go on: the limit is reached, or it was begun with somebody else's time
// and would go on with what was not earned. Launches without times earn nothing until the default is
// timed: that goes on, one shape's, and others' only where they might begin.
Blocker Choice::held_by(const ShapeTask& task, TimeSource source) const {
  const bool earns = task.default_time.count() > 0 || task.kernel.state->profiling_available();
  const bool owes = accounts_.ledger().debt().count() > 0 && (earns || &task != core_.current_);
  const Blocker blocker = accounts_.blocker(task, source, Nanoseconds{1});
  return owes || blocker == Blocker::limit ? blocker : Blocker::none;
}

// What was adopted and is under suspicion, or was measured, comes back before anything is searched:
// it costs one trial, and what it brings is known.
Choice::Want Choice::want_of_return(ShapeTask& task, TimeSource source, bool missed) {
  const Comeback* found = comeback(task);
  if (found == nullptr && !missed) return Want::nothing;
  const Nanoseconds charge = source == TimeSource::idle ? price(task).charge : Nanoseconds{0};
  if (source == TimeSource::idle && !missed) {
    const double saving = found->saving(task.running_time) * core_.expected_launches(task);
    if (saving <= real_ns(charge)) return Want::nothing;
  }
  task.blocker = accounts_.blocker(task, source, charge);
  if (task.blocker == Blocker::none) return Want::beginning;
  return source == TimeSource::idle ? Want::saving : Want::nothing;
}

// Of what was measured at the shape the fastest, if it beats what runs by the margin: what that
// lost to is gone. Null: there is none, or that still races.
Comeback* Choice::comeback(ShapeTask& task) {
  if (task.race != nullptr || task.default_time.count() == 0 || task.running_time.count() == 0) {
    return nullptr;
  }
  if (std::exchange(task.look_for_comebacks, false)) knowledge_.look_for_comebacks(task);
  Comeback* best = nullptr;
  for (Comeback& each : task.comebacks) {
    const bool waits = each.time.count() == 0 || each.from_launches > task.launches();
    if (waits || (best != nullptr && best->time <= each.time)) continue;
    if (admission(task, each.configuration, true) == Admission::admitted) best = &each;
  }
  return best;
}

// In the application's idle time decision and ledger have the say.
Choice::Want Choice::want_of_decision(ShapeTask& task, Nanoseconds charge) {
  const Decision& decision = *task.search.decision();
  const bool has_pick = task.search.first_pick_left();
  if (decision.verdict == Verdict::wait) {
    task.gap_needed = gap_needed(task);
    task.blocker = task.gap_needed > core_.longest_gap_ ? Blocker::gap : Blocker::ledger;
    if (task.blocker == Blocker::gap) return Want::nothing;
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
double Choice::worth(const ShapeTask& task, Want want) const {
  // The data of another shape would have to be prepared first, which costs a run of the reference.
  if (want == Want::search && &task == core_.favourite_ && core_.streak_ < kStreak) return HUGE_VAL;
  const double launches = std::max(1.0, core_.expected_launches(task));
  const double time = std::max<double>(1.0, static_cast<double>(task.running_time.count()));
  return launches * time / (1.0 + static_cast<double>(task.search.evidence().evaluated));
}

// First picks come before any search, the one with the most to gain first. As long as the ledger
// does not allow one yet, it is not spent on searching either.
ShapeTask* Choice::most_wanting(TimeSource source, ShapeTask* only) {
  ShapeTask* best = nullptr;
  Want most = Want::nothing;
  double best_worth = -1;
  bool saving = false;
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (!core_.may_tune(*kernel, source)) continue;
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

ShapeTask* Choice::choose(TimeSource source, ShapeTask* only) {
  if (options_.mode != Mode::tune) return nullptr;
  if (core_.current_ != nullptr && (only == nullptr || only == core_.current_) &&
      !passed_over(*core_.current_) && core_.may_tune(core_.current_->kernel, source) &&
      held_by(*core_.current_, source) == Blocker::none && core_.current_->work.has_next()) {
    return core_.current_;
  }
  const ShapeTask* before = nullptr;
  for (ShapeTask* task = most_wanting(source, only); task != nullptr && task != before;
       task = most_wanting(source, only)) {
    if (task->work.has_next() || begin_work(*task, source)) return task;
    if (!task->exhausted) break;
    before = task;
  }
  return left_to_confirm(source);
}

// Where nothing else is to be done, the reference alone shows what became of the device.
ShapeTask* Choice::left_to_confirm(TimeSource source) {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (!kernel->device->reference_due() || kernel->shapes.empty()) continue;
    ShapeTask& task = *kernel->shapes.front();
    const Nanoseconds charge = accounts_.ledger().idle_charge(task.reference_run);
    if (task.work.is(Work::resting) && !passed_over(task) && core_.may_tune(*kernel, source) &&
        accounts_.blocker(task, source, charge) == Blocker::none) {
      return &task;
    }
  }
  return nullptr;
}

// False: there is nothing to do for the shape after all.
bool Choice::begin_work(ShapeTask& task, TimeSource source) {
  if (task.default_time.count() > 0) return propose(task, source);
  const Configuration& configuration = task.slot.fallback.configuration;
  const RunnerContents& contents = task.kernel.contents;
  task.work.begin(Work::measuring_default, nullptr);
  task.work.baseline.reset(
      new ReferenceBaseline(task.slot.shape, configuration, contents.compiled(configuration),
                            contents.prepared(task.slot.shape)[0], core_.step_options()));
  return true;
}

Admission Choice::admission(ShapeTask& task, const Configuration& configuration,
                            bool measured) const {
  const KernelTask& kernel = task.kernel;
  if (!measured && task.unfinished != Unfinished::tried &&
      journal_.state().dangers().is_unfinished(task.identity.who(configuration))) {
    task.unfinished = Unfinished::left_out;
    return Admission::refused;
  }
  if (!facts_.may(kernel.facts(), configuration, task.slot.shape, kernel.trial_place())) {
    return Admission::refused;
  }
  if (configuration == task.running()) return Admission::refused;
  if (kernel.called && !facts_.may_race(kernel.facts(), configuration)) return Admission::refused;
  for (std::size_t i = 0; i < task.variants.racers(); ++i) {
    if (configuration == task.variants.racer(i).configuration) return Admission::refused;
  }
  // A board without a compiler runs what came prebuilt.
  if (!kernel.state->can_be_built(configuration)) return Admission::refused;
  const bool launchable = kernel.state->package().plan(task.slot.shape, configuration).ok();
  return launchable ? Admission::admitted : Admission::impossible;
}

std::optional<Proposal> Choice::take_proposal(ShapeTask& task, TimeSource source) {
  const auto admit = [&](const Configuration& configuration) {
    return admission(task, configuration);
  };
  for (std::size_t i = task.postponed.size(); i-- > 0;) {
    const Proposal& again = task.postponed[i];
    if (source == TimeSource::start_up && again.origin != ProposalOrigin::first_pick) continue;
    if (admit(again.configuration) == Admission::admitted) return again;
  }
  if (std::optional<Proposal> missed = take_suspect(task, true)) return missed;
  if (Comeback* found = comeback(task)) {
    const Proposal returning{found->configuration, ProposalOrigin::learned};
    (void)task.lost_again(returning.configuration);
    return returning;
  }
  if (journal_.state().dangers().full()) {
    core_.end_tuning(task.kernel, "the journal is full of dangers");
    return std::nullopt;
  }
  if (source == TimeSource::start_up) return task.search.next_first_pick(admit);
  const ClassVariant* of_class = task.kernel.state->classes().candidate(task.slot);
  if (!task.class_hinted && of_class != nullptr && task.variants.adopted() == nullptr) {
    task.class_hinted = true;
    task.search.add_hint(of_class->configuration);
  }
  std::optional<Proposal> proposal = task.search.next(admit);
  if (!proposal && task.unfinished == Unfinished::left_out) {
    task.unfinished = Unfinished::tried;
    knowledge_.renew(task);
    return take_proposal(task, source);
  }
  return proposal ? proposal : take_suspect(task, false);
}

// Suspects are tried in a helper only: first where launches miss what was adopted, else last of
// all. Those of calls last, and in calls.
std::optional<Configuration> Choice::suspect(const ShapeTask& task, bool missed) const {
  std::optional<Configuration> found;
  const journal::State& state = journal_.state();
  const bool called = task.kernel.called;
  if (!called && task.kernel.trial_place() != Where::helper) return found;
  if (state.dangers().suspect_count() + state.dangers().quarantine_count() == 0) return found;
  journal::Trial trial = task.facts().trial({}, task.slot.shape);
  state.dangers().for_each_suspect_of(trial, [&](const journal::Suspect& suspect) {
    trial.configuration = suspect.trial.configuration;
    if (trial.configuration == task.running()) return;  // launches acquit it
    if ((!called && is_adopted(task, trial.configuration)) != missed) return;
    const KernelState& kernel = *task.kernel.state;
    const bool launchable = kernel.can_be_built(trial.configuration) &&
                            kernel.package().plan(task.slot.shape, trial.configuration).ok() &&
                            !(called && facts_.quirky(task.facts(), trial.configuration));
    if (launchable && facts_.may_retry(trial, missed, retry_place(task)))
      found = trial.configuration;
  });
  return found;
}

bool Choice::is_adopted(const ShapeTask& task, const Configuration& configuration) const {
  bool adopted = false;
  journal_.state().for_each_adoption([&](const journal::Adoption& adoption) {
    adopted = adopted || (adoption.trial.kernel == task.identity.kernel &&
                          adoption.trial.device == task.identity.device &&
                          adoption.trial.configuration == configuration);
  });
  return adopted;
}

std::optional<Proposal> Choice::take_suspect(ShapeTask& task, bool missed) {
  const std::optional<Configuration> found = suspect(task, missed);
  if (!found || !flight_.ensure_runner(task.kernel)) return std::nullopt;
  if (!task.kernel.called && !task.kernel.runner->isolated()) return std::nullopt;
  facts_.begin_retry(task.facts().trial(*found, task.slot.shape), retry_place(task));
  return Proposal{*found, ProposalOrigin::learned};
}

bool Choice::propose(ShapeTask& task, TimeSource source) {
  const std::optional<Proposal> proposal = take_proposal(task, source);
  if (!proposal) {
    task.exhausted = source != TimeSource::start_up;
    task.look_for_comebacks = true;
    return false;
  }
  const KernelTask& kernel = task.kernel;
  const Configuration& configuration = proposal->configuration;
  for (std::size_t i = task.postponed.size(); i-- > 0;) {
    if (task.postponed[i].configuration == configuration) {
      task.postponed.erase(task.postponed.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  CandidateContext context = core_.candidate_context(task, configuration, task.running());
  if (!kernel.called) context.incumbent_time = task.running_time;
  if (task.variants.adopted() != nullptr) {
    // What is adopted instead of it makes its setup once more, or for the first time.
    const VariantScratch* setup = task.setup();
    context.launches_left = std::max(1.0, core_.expected_launches(task));
    context.incumbent_was_set_up =
        setup == nullptr || setup->setups_made.load(std::memory_order_relaxed) > 0;
  }
  // Launches that time a candidate make no setup for it: the application would pay for that.
  const Result<LaunchPlan> plan = kernel.state->package().plan(task.slot.shape, configuration);
  const bool has_setup = plan.ok() && !plan->setup().empty();
  StepOptions step = core_.step_options();
  // What runs for its class is the class's first candidate: it is compared with the default.
  step.finals =
      !kernel.called && (!kernel.in_place.allowed || !kernel.state->profiling_available() ||
                         has_setup || task.runs_for_class() || source != TimeSource::idle ||
                         !facts_.may_race(task.facts(), configuration));
  // All heats together of what lost by little err as seldom as one trial.
  for (const Comeback& each : task.comebacks) {
    if (real_ns(each.time) <= core_.winning_ns(task) || each.configuration != configuration)
      continue;
    step.significance = std::ldexp(step.significance, 1 - static_cast<int>(each.tries));
    step.max_pairs = CandidateTrial::kMaxPairs;
    step.finals = !kernel.called;
  }
  task.work.begin(Work::trying, std::make_unique<TryingCandidate>(
                                    *proposal, step, context, journal_, task.trial(configuration)));
  if (task.running() != task.slot.fallback.configuration) {
    task.work.tried->incumbent.emplace(journal_, task.trial(task.running()));
  }
  return true;
}

}  // namespace idletune::detail
