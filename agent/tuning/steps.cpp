#include "agent/tuning/steps.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <idletune/text.hpp>

#include "agent/scheduler/nanoseconds.hpp"
#include "models/core/lists.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

std::string percent(double share) {
  const auto tenths = std::llround(share * 1000);
  return joined("%.% %", tenths / 10, tenths % 10);
}

// Busy: that says nothing of it.
Status may_not_run() { return Status(StatusCode::busy, "it may not run at the moment"); }

}  // namespace

// Takes the work off the shape if its plan has come to an end, and does what follows from that.
void Steps::end_work(ShapeTask& task) {
  if (!task.work.done()) return;
  if (core_.current_ == &task) core_.current_ = nullptr;
  ShapeWork ended = std::move(task.work);
  task.work.clear();
  if (ended.baseline != nullptr) {
    const Configuration& standard = task.slot.fallback.configuration;
    return baseline_ended(task, StepResult::of(standard, *ended.baseline));
  }
  if (ended.is(Work::rechecking)) return end_recheck(task, *ended.tried);
  TryingCandidate& trying = *ended.tried;
  const bool ended_well = trying.plan.verdict() != TrialVerdict::inconclusive;
  // In calls it only begins.
  if (!task.kernel.called || !ended_well) {
    facts_.end_retry(trying.journaled.identity(), ended_well);
  }
  if (!trying.plan.to_finals_elsewhere()) return end_candidate(task, trying);
  trying.at_first = task.search.evidence().as_at_first(trying.plan.candidate_time());
  trying.journaled.rest();
  install(task, Install{trying.proposal.configuration}, std::move(ended.tried));
}

void Steps::end_candidate(ShapeTask& task, TryingCandidate& trying) {
  StepResult result = StepResult::of(trying.proposal, trying.plan);
  if (trying.plan.context().incumbent == task.running()) {
    follow_clock(task, result);
  } else if (result.verdict == TrialVerdict::adopt) {
    // A race has put something else in its place meanwhile, which it was not compared with.
    result.verdict = TrialVerdict::reject_slow;
    task.look_for_comebacks = true;
  }
  end_trial(task, result, trying.journaled);
}

// What runs was timed again beside the candidate: by another clock than before, maybe.
void Steps::follow_clock(ShapeTask& task, StepResult& result) {
  constexpr double kClockNoise = 0.1;  // what an unchanged clock may differ by from trial to trial
  result.timed_alike = task.timed_alike;
  if (result.pairs == 0 || result.incumbent.count() == 0 || task.running_time.count() == 0) return;
  // A trial says what part of that it takes; launches may have told it anew meanwhile.
  if (result.timed()) result.time = from_ns(real_ns(task.running_time) * result.ratio);
  const double factor = real_ns(result.incumbent) / real_ns(task.running_time);
  if (task.timed_alike && std::abs(factor - 1) < kClockNoise) return;
  result.time = from_ns(real_ns(result.time) * factor);
  if (task.timed_alike) {
    task.timed_anew(from_ns(real_ns(task.default_time) * factor), result.incumbent);
  } else {
    task.running_time = result.incumbent;
  }
}

void Steps::baseline_ended(ShapeTask& task, const StepResult& result) {
  if (!result.timed()) {
    // A helper that could not start, or memory that was short, says nothing of the default.
    task.baseline_failed = result.status != TrialStatus::runtime;
    task.baseline_failure = joined("The default configuration failed (%): %",
                                   trial_status_name(result.status), result.message);
    tell(options_, 1, "%: %", task.kernel.state->name(), task.baseline_failure);
    if (!task.baseline_failed) pause(task);
    if (result.status == TrialStatus::constraints) knowledge_.drop_capture(task);
    return;
  }
  task.inconclusive = 0;
  task.default_time = result.time;
  task.timed_alike = task.variants.adopted() == nullptr;
  if (task.timed_alike) task.running_time = result.time;
  task.search.baseline_ended(result);
  knowledge_.record(task, result);
  // Adopted on other data.
  if (task.variants.adopted() != nullptr) begin_recheck(task);
}

void Steps::end_trial(ShapeTask& task, const StepResult& result, JournaledTrial& journaled,
                      std::unique_ptr<Variant> built) {
  if (result.verdict != TrialVerdict::inconclusive) {
    task.inconclusive = 0;
    return conclude(task, result, journaled, std::move(built));
  }
  // The data could not be prepared, or what runs failed: nothing is known about the candidate.
  journaled.rest();
  postpone(task, result);
}

void Steps::postpone(ShapeTask& task, const StepResult& result) {
  tell(options_, 1, "%: a step came to nothing: %", task.kernel.state->name(), result.message);
  (void)knowledge_.notice_capture(task);
  pause(task);
  // What needs more memory than there ever is must not stand before the others for good.
  constexpr std::uint32_t kTries = 10;
  if (task.inconclusive <= kTries) make_again(task, result.proposal);
}

// Where steps come to nothing again and again: memory is short, say.
void Steps::pause(ShapeTask& task) const {
  constexpr std::uint32_t kAtOnce = 2;
  if (++task.inconclusive <= kAtOnce) return;
  const std::uint32_t doublings = std::min(task.inconclusive - kAtOnce - 1, 8u);
  task.rests_until = now() + std::chrono::seconds(1 << doublings);
}

// A suspect waits for another retry, or until it is acquitted elsewhere.
void Steps::make_again(ShapeTask& task, const Proposal& proposal) {
  facts_.end_retry(task.facts().trial(proposal.configuration, task.slot.shape), false);
  push(task.postponed, proposal);
  task.exhausted = false;
}

bool Steps::shelve(ShapeTask& task) {
  if (flight_.flies() && &flight_.stage().task() == &task) return false;
  if (core_.current_ == &task) core_.current_ = nullptr;
  task.work.rest();
  if (const auto* trying = task.work.trying()) make_again(task, trying->proposal);
  task.work.clear();
  return true;
}

void Steps::end_recheck(ShapeTask& task, TryingCandidate& recheck) {
  const CandidateTrial& plan = recheck.plan;
  JournaledTrial& journaled = recheck.journaled;
  if (plan.verdict() == TrialVerdict::inconclusive) {
    journaled.rest();
    (void)knowledge_.notice_capture(task);
    return pause(task);
  }
  task.inconclusive = 0;
  task.least_saving = plan.least_gain();
  const bool failed = plan.verdict() == TrialVerdict::reject_failed;
  if (failed && is_death(plan.status())) return;  // the facts say what follows
  settle(task, journaled, plan.checked_all_seeds() || failed);
  const StepResult result = StepResult::of(recheck.proposal, plan);
  if (result.status == TrialStatus::correctness) {
    facts_.wrong(task.facts(), journaled.identity());
  }
  // It was only looked whether the gain is what it was: less than the margin is still a gain.
  const bool wins =
      !task.kernel.state->profiling_available() && plan.ratio() > 0 && plan.ratio() < 1;
  if (failed || (plan.verdict() == TrialVerdict::reject_slow && !wins)) {
    const auto why =
        failed ? journal::DemotionReason::failed : journal::DemotionReason::slower_in_trials;
    publisher_.demote(task, why, "no longer faster than the default");
    if (failed) knowledge_.record(task, result);
    return;
  }
  if (plan.verdict() != TrialVerdict::adopt) return;
  // A clock may have changed meanwhile: not so the ratio of a pair.
  const Nanoseconds tuned = plan.raw_candidate_median();
  task.timed_anew(from_ns(real_ns(tuned) / plan.ratio()), tuned);
  if (task.untuned_launch.count() > 0) task.watch.expect(task.untuned_launch, task.launch_time());
}

// The trial is over without a death. `ran`: by an outcome of its own, which clears a suspicion.
void Steps::settle(ShapeTask& task, JournaledTrial& journaled, bool ran) {
  if (!ran) return journaled.rest();
  facts_.survived(journaled.identity(), task.kernel.trial_place());
  journaled.forget();
}

// What a step found goes to the journal, the search, the log and, if it won, to the launches.
void Steps::conclude(ShapeTask& task, const StepResult& result, JournaledTrial& journaled,
                     std::unique_ptr<Variant> built) {
  ++steps_ended_;
  core_.streak_ = core_.favourite_ == &task ? core_.streak_ + 1 : 1;
  core_.favourite_ = &task;
  const bool wrong = result.status == TrialStatus::correctness;
  bool counts = false;
  if (is_death(result.status)) {
    journaled.forget();  // the facts know
    if (crash_was_seen(task, result)) counts = knowledge_.record(task, result);
  } else {
    counts = knowledge_.record(task, result);
    settle(task, journaled, wrong || result.checked_seeds > 0);
  }
  task.search.step_ended(result, counts);
  const FactSubject facts = task.facts();
  const Configuration& configuration = result.proposal.configuration;
  if (wrong) facts_.wrong(facts, task.trial(configuration));
  if (result.status == TrialStatus::correct && result.checked_seeds == 2) {
    facts_.passed(facts, configuration, task.slot.shape);
  }
  if (result.verdict == TrialVerdict::reject_slow && task.runs_for_class() &&
      task.slot.of_class.configuration == result.proposal.configuration) {
    publisher_.stop_for_class(task);
  }
  log_step(task, result);
  task.look_for_comebacks = task.look_for_comebacks || task.exhausted;
  if (result.verdict != TrialVerdict::adopt) return;
  const bool is_first_pick = result.proposal.origin == ProposalOrigin::first_pick;
  const Install accepted{result.proposal.configuration,
                         is_first_pick ? Selection::first_pick : Selection::tuned,
                         task.search.evidence().as_at_first(result.time),
                         false,
                         result.least_gain,
                         result.setup,
                         result.timed_alike};
  if (built == nullptr) return install(task, accepted);
  built->selection = accepted.selection;
  publisher_.adopt(task, accepted, std::move(built));
}

bool Steps::crash_was_seen(const ShapeTask& task, const StepResult& result) const {
  const journal::Trial trial = task.trial(result.proposal.configuration);
  const std::optional<journal::Suspect> suspect = journal_.state().dangers().suspect(trial);
  return suspect ? suspect->crash_seen() : journal_.state().dangers().is_quarantined(trial);
}

void Steps::log_step(const ShapeTask& task, const StepResult& result) const {
  if (options_.log_level < 2) return;
  std::string text =
      joined("%: %: % (%", task.kernel.state->name(),
             to_text(task.kernel.state->package().space(), result.proposal.configuration),
             trial_verdict_name(result.verdict), trial_status_name(result.status));
  if (result.ratio > 0) {
    append(text, ", % us beside % us of what runs, ", result.candidate.count() / 1000,
           result.incumbent.count() / 1000);
    if (result.pairs > 0) append(text, "median of % pairs ", result.pairs);
    append(text, "%, adopted up to %", percent(result.ratio),
           percent(1 - options_.adoption_margin));
  }
  tell(options_, 2, "%) %", text, result.message);
}

void Steps::install(ShapeTask& task, const Install& install,
                    std::unique_ptr<TryingCandidate> to_race) {
  task.work.begin(Work::installing, nullptr);
  task.work.build.reset(new Build{&task, install, std::move(to_race)});
}

// What will run in the application's process is on the medium before it is built there, and before
// it is launched. False: nothing is to be built, or something else is under way.
bool Steps::begin_build() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      std::unique_ptr<Build>& next = task->work.build;
      if (next == nullptr) continue;
      // Where too much is exposed the trace alone speaks, or it waits until launches have proven
      // others.
      if (next->exposed == 0 && surroundings_.trace == nullptr &&
          !journal_.state().dangers().has_room_for(2, true))
        continue;
      if (!flight_.worker_rests()) return false;
      if (next->exposed == 0) next->exposed = expose(*task, next->install.configuration);
      flight_.begin_write();
      if (!flight_.worker_rests() || !journal_.durable(next->exposed)) return flight_.errands();
      const Configuration& configuration = next->install.configuration;
      if (!facts_.may(task->facts(), configuration, task->slot.shape, Where::here)) {
        next->status = may_not_run();
        build_ended(*std::exchange(next, nullptr));
        return true;
      }
      flight_.build(std::move(next));
      if (surroundings_.builds == BuildThread::caller) (void)wait_for_build(kForever);
      return true;
    }
  }
  return false;
}

journal::Serial Steps::expose(ShapeTask& task, const Configuration& configuration) {
  const journal::Trial trial = task.trial(configuration);
  (void)journal_.exposed(trial, Where::here);
  return journal_.exposed(trial, Where::launches);
}

bool Steps::wait_for_build(Nanoseconds timeout) {
  const std::unique_ptr<Build> build = flight_.take_build(timeout);
  if (build == nullptr) return !flight_.builds();
  build_ended(*build);
  return true;
}

void Steps::build_ended(Build& build) {
  ShapeTask& task = *build.task;
  const journal::Trial trial = task.trial(build.install.configuration);
  if (build.variant != nullptr &&
      !facts_.may(task.facts(), trial.configuration, task.slot.shape, Where::launches)) {
    build.variant = nullptr;
    build.status = may_not_run();
  }
  if (build.variant == nullptr) return build_failed(build);
  // Of a call nothing has run yet.
  task.kernel.called ? journal_.parked(trial, Where::here) : journal_.closed(trial, Where::here);
  task.work.clear();
  push(task.unproven, {trial, now(), task.launches()});
  if (build.candidate == nullptr) {
    // Launches may have found something faster while it was built.
    const Nanoseconds time = task.search.evidence().as_now(build.install.at_first);
    const bool late = task.variants.adopted() != nullptr && time >= task.running_time;
    if (late) return publisher_.forget_unproven(task, trial.configuration);
    return publisher_.adopt(task, build.install, std::move(build.variant));
  }
  if (task.race == nullptr) {
    task.race.reset(new InPlaceTrials(core_.step_options(), task.kernel.in_place.max_slowdown));
  }
  InPlaceTrials& race = *task.race;  // perhaps a duel
  race.max_slowdown = std::min(race.max_slowdown, task.kernel.in_place.max_slowdown);
  race.join(build.candidate->plan.ratio());
  race.trials[task.variants.racers()] = std::move(build.candidate);
  task.variants.offer(std::move(build.variant));
  task.variants.race(race.turns());
}

void Steps::build_failed(const Build& build) {
  ShapeTask& task = *build.task;
  const journal::Trial trial = task.trial(build.install.configuration);
  tell(options_, 1, "%: an accepted configuration does not build for launches: %",
       task.kernel.state->name(), build.status.message());
  journal_.withdrawn(trial, Where::launches);
  if (build.status.code() == StatusCode::timeout) {
    facts_.died({trial, Where::here}, journal::Ending::hung, build.status.message());
    core_.end_tuning(task.kernel, "a launch never ended");
  } else {
    journal_.parked(trial, Where::here);
  }
  task.work.clear();
  if (build.candidate == nullptr) {
    (void)task.lost_again(trial.configuration);
    return;
  }
  TryingCandidate& candidate = *build.candidate;
  StepResult result = StepResult::of(candidate.proposal, candidate.plan);
  result.verdict = build.status.code() == StatusCode::busy ? TrialVerdict::inconclusive
                                                           : TrialVerdict::reject_failed;
  result.status = TrialStatus::compile;
  end_trial(task, result, candidate.journaled);
}

void Steps::release_device() {
  IdleReport ignored;
  for (;;) {
    const bool here = flight_.flies() && !flight_.stage().task().kernel.runner->isolated();
    if (flight_.builds()) {
      (void)wait_for_build(kForever);
    } else if (flight_.errands()) {
      (void)flight_.wait_for_errand(kForever);
    } else if (here) {
      (void)finish_stage(kForever, ignored);  // may lead to a build
    } else {
      return;
    }
  }
}

bool Steps::finish_stage(Nanoseconds wait, IdleReport& report) {
  TrialOutcome outcome;
  const bool last = flight_.flies() && flight_.stage().task().kernel.device->faulty();
  const std::unique_ptr<StageInFlight> stage = flight_.landed(wait, outcome);
  if (stage == nullptr) return false;
  ShapeTask& task = stage->task();
  ++report.stages;
  const std::uint64_t steps_before = steps_ended_;
  reference_ran(task, outcome);
  if (last && !task.kernel.device->reference_due()) {
    core_.end_tuning(task.kernel, "too many trials crashed or hung");
  }
  JournaledTrial* journaled = task.work.journaled_stage();
  const bool is_its = journaled != nullptr && stage->runs() != nullptr &&
                      journaled->identity().key() == stage->runs()->key();
  if (is_its) journaled->ended();
  // Of what runs beside a candidate nothing is left open while that runs.
  const TryingCandidate* trying = task.work.trying();
  if (is_its && (trying == nullptr || journaled != &trying->journaled)) journaled->rest();
  const bool repeated = flight_.is_to_be_repeated(task, outcome) || last;
  if (stage->runs() != nullptr) {
    if (!repeated && is_death(outcome.status) && outcome.stage != TrialStage::prepare) {
      judge_death(task, *stage, outcome);
      flight_.keep_traced(*stage);
      if (is_its) journaled->forget();
    } else if (!is_its) {
      journal_.parked(*stage->runs(), task.kernel.trial_place());
    }
  }
  if ((is_death(outcome.status) || outcome.ambiguous) && task.kernel.runner->isolated()) {
    task.kernel.device->set_reference_due(true);
  }
  if (!repeated) {
    task.work.on_outcome(outcome);
    end_work(task);
  }
  report.steps += static_cast<std::uint32_t>(steps_ended_ - steps_before);
  return true;
}

void Steps::judge_death(ShapeTask& task, const StageInFlight& stage, const TrialOutcome& outcome) {
  journal::Open open;
  open.trial = *stage.runs();
  open.place = task.kernel.trial_place();
  open.stage =
      runs_configuration(outcome.stage) ? journal::IntentStage::run : journal::IntentStage::compile;
  // In this process nobody else can have been the cause.
  const bool here = open.place == Where::here;
  const auto ending = here || outcome.status == TrialStatus::timeout ? journal::Ending::hung
                      : outcome.ambiguous ? journal::Ending::helper_killed
                                          : journal::Ending::helper_crashed;
  facts_.died(open, ending, outcome.message);
}

// In each new helper the reference runs before anything else: whatever came to an outcome there
// shows that it was the configuration that failed before, and not the device.
void Steps::reference_ran(ShapeTask& task, const TrialOutcome& outcome) {
  DeviceTask& device = *task.kernel.device;
  if (!device.reference_due() || outcome.reference == ReferenceRun::none) return;
  const bool well = outcome.reference == ReferenceRun::well;
  device.set_reference_due(false);
  facts_.reference_ran(task.kernel.state->device().info(), well);
  if (well) return;
  device.lose();
  core_.end_tuning(
      task.kernel,
      joined("the device is lost: the reference failed in a new helper: %", outcome.message));
}

void Steps::begin_recheck(ShapeTask& task) {
  task.compared_at = now();
  task.compared_launches = task.launches();
  const CandidateContext context =
      core_.candidate_context(task, task.running(), task.slot.fallback.configuration);
  task.work.begin(Work::rechecking,
                  std::make_unique<TryingCandidate>(
                      Proposal{task.running(), ProposalOrigin::application}, core_.step_options(),
                      context, journal_, task.trial(task.running())));
}

}  // namespace idletune::detail
