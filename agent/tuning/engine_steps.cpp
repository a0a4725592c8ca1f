// A step ends.
#include <chrono>
#include <cmath>
#include <utility>

#include <idletune/text.hpp>

#include "agent/tuning/tuning_engine.hpp"

namespace idletune::detail {
namespace {

constexpr std::uint32_t kBaselineTries = 3;

constexpr journal::Origin origin_of(ProposalOrigin origin) {
  return static_cast<journal::Origin>(static_cast<std::uint8_t>(origin) + 1);
}
static_assert(origin_of(ProposalOrigin::first_pick) == journal::Origin::first_pick);
static_assert(origin_of(ProposalOrigin::portfolio) == journal::Origin::portfolio);
static_assert(origin_of(ProposalOrigin::random) == journal::Origin::random);
static_assert(origin_of(ProposalOrigin::learned) == journal::Origin::learned);
static_assert(origin_of(ProposalOrigin::application) == journal::Origin::application);

std::string percent(double share) {
  const auto tenths = std::llround(share * 1000);
  return joined({tenths / 10, ".", tenths % 10, " %"});
}

}  // namespace

// Takes the work off the shape if its plan has come to an end, and does what follows from that.
void TuningEngine::end_work(ShapeTask& task) {
  if (!done(task.work)) return;
  if (current_ == &task) current_ = nullptr;
  ShapeWork ended = std::move(task.work);
  task.work = Resting();
  if (const auto* baseline = std::get_if<MeasuringDefault>(&ended)) {
    end_baseline(task, baseline->plan);
  } else if (auto* trying = std::get_if<TryingCandidate>(&ended)) {
    if (trying->plan.to_finals_elsewhere()) {
      Build next;
      next.task = &task;
      next.install.configuration = trying->proposal.configuration;
      next.candidate = std::make_unique<TryingCandidate>(std::move(*trying));
      task.work.emplace<Installing>();
      build(std::move(next));
    } else {
      end_trial(task, StepResult::of(trying->proposal, trying->plan), trying->journaled);
    }
  } else if (const auto* recheck = std::get_if<Rechecking>(&ended)) {
    end_recheck(task, recheck->plan);
  }
}

void TuningEngine::end_baseline(ShapeTask& task, const ReferenceBaseline& plan) {
  const StepResult result = StepResult::of(task.slot.fallback.configuration, plan);
  if (!result.timed()) {
    // A helper that could not start, or a device that was busy, says nothing of the default.
    ++task.baseline_failures;
    task.baseline_failed =
        result.status != TrialStatus::runtime || task.baseline_failures >= kBaselineTries;
    log(1, {task.kernel.state->name(), ": the default configuration failed (",
            trial_status_name(result.status), "): ", result.message});
    if (result.status == TrialStatus::constraints) drop_capture(task);
    return;
  }
  task.default_time = result.time;
  if (task.variants.adopted() == nullptr) task.running_time = result.time;
  task.search.baseline_ended(result);
  record(task, result);
  // Adopted on other data.
  if (task.variants.adopted() != nullptr) begin_recheck(task);
}

void TuningEngine::end_trial(ShapeTask& task, const StepResult& result, JournaledTrial& journaled,
                             std::unique_ptr<Variant> built) {
  if (result.verdict == TrialVerdict::inconclusive) {
    // The incumbent failed in the runner: nothing is known about the candidate.
    journaled.conclude(TrialStatus::correct, std::string());
    log(1, {task.kernel.state->name(), ": the running configuration failed: ", result.message});
    return;
  }
  conclude(task, result, journaled, std::move(built));
}

void TuningEngine::end_recheck(ShapeTask& task, const CandidateTrial& plan) {
  task.least_saving = plan.least_gain();
  // It was only looked whether the gain is what it was: less than the margin is still a gain.
  const bool wins =
      !task.kernel.state->profiling_available() && plan.ratio() > 0 && plan.ratio() < 1;
  if ((plan.verdict() == TrialVerdict::reject_slow && !wins) ||
      plan.verdict() == TrialVerdict::reject_failed) {
    demote(task, "no longer faster than the default");
    return;
  }
  if (plan.verdict() != TrialVerdict::adopt) return;
  if (plan.raw_incumbent_median().count() > 0) task.default_time = plan.raw_incumbent_median();
  if (plan.raw_candidate_median().count() > 0) task.running_time = plan.raw_candidate_median();
  task.watch = ProductionWatch(task.default_time, task.running_time);
}

// What a step found goes to the journal, the search, the log and, if it won, to the launches.
void TuningEngine::conclude(ShapeTask& task, const StepResult& result, JournaledTrial& journaled,
                            std::unique_ptr<Variant> built) {
  ++steps_ended_;
  streak_ = favourite_ == &task ? streak_ + 1 : 1;
  favourite_ = &task;
  // After an ambiguous death the intent stays open: the next start makes it a suspect. It is not
  // proposed again until then.
  if (!journaled.death_is_ambiguous()) {
    record(task, result);
    journaled.conclude(result.status, result.message);
  }
  task.search.step_ended(result);
  const bool wrong = result.status == TrialStatus::correctness;
  if (wrong || (result.status == TrialStatus::correct && result.checked_seeds == 2)) {
    note_check(task.kernel, result.proposal.configuration, task.slot.shape, !wrong);
  }
  if (result.verdict == TrialVerdict::reject_slow && task.runs_for_class() &&
      task.slot.of_class.configuration == result.proposal.configuration) {
    task.variants.publish(nullptr);
  }
  log_step(task, result);
  if (result.verdict != TrialVerdict::adopt) return;
  const bool is_first_pick = result.proposal.origin == ProposalOrigin::first_pick;
  const Install accepted{result.proposal.configuration,
                         is_first_pick ? Selection::first_pick : Selection::tuned,
                         result.time,
                         false,
                         result.least_gain,
                         result.setup};
  if (built == nullptr) return install(task, accepted);
  built->selection = accepted.selection;
  adopt(task, accepted, std::move(built));
}

void TuningEngine::record(const ShapeTask& task, const StepResult& result) {
  journal::Measurement measurement;
  measurement.trial = task.identity;
  measurement.trial.configuration = result.proposal.configuration;
  measurement.status = result.status;
  if (result.status == TrialStatus::correct) {
    measurement.median = measurement.minimum = result.time;
    measurement.samples = 1;
  }
  measurement.setup = result.setup;
  measurement.compile = result.compile;
  measurement.checked_seeds = result.checked_seeds;
  measurement.origin = origin_of(result.proposal.origin);
  measurement.unix_seconds = std::chrono::duration_cast<std::chrono::seconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
  journal_.measured(measurement);
}

void TuningEngine::log_step(const ShapeTask& task, const StepResult& result) const {
  if (options_.log_level < 2) return;
  std::string text =
      joined({task.kernel.state->name(), ": ",
              to_text(task.kernel.state->package().space(), result.proposal.configuration), ": ",
              trial_verdict_name(result.verdict), " (", trial_status_name(result.status)});
  if (result.ratio > 0) {
    append(text, {", ", result.candidate.count() / 1000, " us beside ",
                  result.incumbent.count() / 1000, " us of what runs, "});
    if (result.pairs > 0) append(text, {"median of ", result.pairs, " pairs "});
    append(text,
           {percent(result.ratio), ", adopted up to ", percent(1 - options_.adoption_margin)});
  }
  log(2, {text, ") ", result.message});
}

}  // namespace idletune::detail
