#include "agent/tuning/explanation.hpp"

#include <idletune/text.hpp>

#include "agent/scheduler/decision_reason.hpp"
#include "agent/scheduler/nanoseconds.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

using amortization::DurationTexts;

std::int64_t up_milliseconds(Nanoseconds time) { return time.count() / 1000000 + 1; }

double milliseconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-6; }

void explain_decision(const Decision& decision, Explanation& text) {
  text.verdict = decision.verdict;
  text.reason = std::string(decision.reason());
  text.expected_steps = decision.expected_steps;
  text.cost_ms = decision.cost_ns * 1e-6;
  text.gain_ms = decision.gain_ns * 1e-6;
  text.break_even_launches = decision.break_even_launches;
  text.fraction = decision.fraction;
  text.fraction_low = decision.fraction_low;
  text.fraction_high = decision.fraction_high;
  text.fraction_origin = fraction_origin_name(decision.fraction_origin);
  text.best_estimate_ms = decision.best_estimate_ns * 1e-6;
}

// What was measured and counted.
void explain_figures(const ShapeTask& task, Explanation& text) {
  text.default_ms = milliseconds(task.default_time);
  text.first_pick_ms = milliseconds(task.search.first_pick_time());
  text.running_ms = milliseconds(task.running_time);
  if (task.default_time.count() > 0 && task.running_time.count() > 0) {
    text.speed_up = text.default_ms / text.running_ms;
  }
  if (const VariantScratch* scratch = task.setup()) {
    const SetupPrice price = task.setup_price();
    text.setup_ms = milliseconds(price.setup);
    text.setup_break_even_launches = break_even_launches(price);
    text.setups = scratch->setups_made.load(std::memory_order_relaxed);
  }
  text.tuning_ms = milliseconds(task.tuning_wall);
  text.charged_ms = milliseconds(task.charged);
  text.launches = task.launches();
  text.launches_said = task.said_launches >= 0;
  text.evaluated = task.search.evidence().evaluated;
  text.rejected = task.search.evidence().rejected;
}

}  // namespace

Status how_journal_is(const journal::Journal& journal) {
  return journal.storage_status().ok() ? journal.damage() : journal.storage_status();
}

Explanation EngineExplanation::explain(const ShapeTask& task) const {
  Explanation text;
  const KernelState& kernel = *task.kernel.state;
  text.kernel = kernel.name();
  text.shape = task.slot.shape;
  text.problem =
      kernel.package().inputs().problem_text(kernel.package().inputs().with_features(text.shape));
  text.model_refused = task.kernel.model_refused;
  const Variant& current = task.runs_for_class() ? task.slot.of_class : task.variants.running();
  text.selection = current.selection;
  text.running = current.configuration;
  text.running_text = to_text(kernel.package().space(), text.running);
  if (task.search.first_pick())
    text.first_pick_quality = pick_quality_name(task.search.first_pick()->quality);
  if (task.search.begins_by_structure()) text.first_pick_quality = "structure";
  explain_figures(task, text);
  text.expected_launches = core_.expected_launches(task);
  text.quarantined = quarantined(task.kernel);
  text.production_watch =
      kernel.profiling_available() ? watch_status_name(task.watch.status()) : "unavailable";
  if (const DevicePosterior* beliefs = task.search.outlook().beliefs) {
    for (std::size_t d = 0; d < beliefs->source_count(); ++d) {
      text.resembles.push_back({std::string(beliefs->device(d)), beliefs->weight(d)});
    }
  }
  explain_verdict(task, text);
  text.captured = task.captured != 0;
  text.blocker = blocker_of(task);
  text.advice = advice(task, text.blocker);
  const TryingCandidate* trying = task.work.trying();
  if (trying == nullptr && task.race != nullptr) trying = task.race->trials[0].get();
  if (trying != nullptr && task.kernel.can_tune()) {
    text.trying = to_text(kernel.package().space(), trying->proposal.configuration);
  }
  return text;
}

void EngineExplanation::explain_verdict(const ShapeTask& task, Explanation& text) const {
  text.verdict = Verdict::stop;
  if (!task.kernel.can_tune()) {
    text.reason = why_no_trials(task);
  } else if (core_.now() < task.rests_until) {
    text.verdict = Verdict::wait;
    text.reason = "The last steps came to nothing; they are made again after a pause.";
  } else if (task.exhausted) {
    text.reason = "Every configuration has been tried.";
  } else if (task.search.decision()) {
    explain_decision(*task.search.decision(), text);
    text.step_ms = milliseconds(choice_.price(task).charge);
  } else if (task.baseline_failed) {
    text.reason = task.baseline_failure;
  } else {
    text.verdict = Verdict::wait;
    text.reason = "The default has not been timed yet";
    if (core_.gap_needed_ > core_.longest_gap_ && core_.longest_gap_.count() > 0) {
      const DurationTexts gaps(real_ns(core_.gap_needed_), real_ns(core_.longest_gap_));
      text.reason += joined(": that takes an idle gap of %, the longest offered was %",
                            gaps.longer.text, gaps.shorter.text);
    }
    text.reason += ".";
  }
}

const std::string& EngineExplanation::why_no_trials(const ShapeTask& task) {
  const DeviceTask& device = *task.kernel.device;
  return device.ended() ? device.ended_why() : task.kernel.runner_status.message();
}

Blocker EngineExplanation::blocker_of(const ShapeTask& task) const {
  if (core_.options_.mode != Mode::tune) return Blocker::none;
  if (!task.kernel.can_tune()) return Blocker::trials;
  if (task.work.is(Work::installing)) return Blocker::build;
  if (task.race != nullptr && !task.work.has_next()) return Blocker::in_place;
  if (task.blocker != Blocker::none || task.exhausted) return task.blocker;
  const std::optional<Decision>& decision = task.search.decision();
  return !decision || task.search.asks_for_step(*decision) ? held_back_.blocker : Blocker::none;
}

std::string EngineExplanation::compile_advice(const ShapeTask& task) const {
  TrialRequest compilation;
  compilation.stage = TrialStage::compile;
  const Nanoseconds work = core_.predict(task, compilation);
  const Nanoseconds ready = core_.accounts_.compile_ready_in(work, core_.now());
  const std::string when = ready < std::chrono::hours(1) ? joined("in % ms", up_milliseconds(ready))
                                                         : std::string("never");
  return joined(
      "the next compilation takes some % ms of processor time, which max_compile_share allows %: "
      "raise it, or call tune_now()",
      up_milliseconds(work), when);
}

// With what would change it.
std::string EngineExplanation::advice(const ShapeTask& task, Blocker blocker) const {
  if (blocker == held_back_.blocker && blocker != task.blocker) return std::string(held_back_.why);
  switch (blocker) {
    case Blocker::gap: {
      const DurationTexts gaps(real_ns(task.gap_needed), real_ns(core_.longest_gap_));
      return joined(
          task.gap_needed > core_.longest_gap_
              ? "the next stage needs a gap of %, the longest offered was %: offer one by "
                "idle() or BackgroundOptions::max_gap, or call tune_now()"
              : "the next stage needs a gap of %, of which too little was left",
          gaps.longer.text, gaps.shorter.text);
    }
    case Blocker::ledger: {
      const Nanoseconds charge = choice_.price(task).charge;
      const Nanoseconds allowed = core_.accounts_.ledger().allowance();
      const DurationTexts charges(real_ns(charge), real_ns(allowed));
      return joined(charge > allowed
                        ? "the next step is charged %, the overhead limit allows %: more "
                          "launches earn more, or raise overhead_limit"
                        : "the next step is charged %, which launches have earned by now",
                    charges.longer.text, charges.shorter.text);
    }
    case Blocker::limit: return "max_tuning is used up";
    case Blocker::compile: return compile_advice(task);
    case Blocker::in_place: return "launches of the application time candidates";
    case Blocker::build: return "an adopted configuration is being built";
    case Blocker::trials: return why_no_trials(task);
    default: return {};
  }
}

// Null: none is.
const ShapeTask* EngineExplanation::most_blocked() const {
  const ShapeTask* most = nullptr;
  double most_worth = -1;
  for (const std::unique_ptr<KernelTask>& kernel : core_.kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (blocker_of(*task) == Blocker::none) continue;
      const double worth_now = choice_.worth(*task, Choice::Want::beginning);
      if (worth_now <= most_worth) continue;
      most = task.get();
      most_worth = worth_now;
    }
  }
  return most;
}

const char* EngineExplanation::why_nothing() const {
  const ShapeTask* blocked = most_blocked();
  switch (blocked != nullptr ? blocker_of(*blocked) : Blocker::none) {
    case Blocker::gap: return "the next stage does not fit";
    case Blocker::ledger: return "the overhead limit does not allow the next step yet";
    case Blocker::limit: return "max_tuning is used up";
    case Blocker::compile: return "compilations have had their share of processor time";
    case Blocker::in_place: return "launches of the application time candidates";
    case Blocker::trials: return "no trial can be run";
    default: return "nothing pays at present";
  }
}

std::uint64_t EngineExplanation::quarantined(const KernelTask& kernel) const {
  std::uint64_t count = 0;
  const std::uint64_t digest = kernel.state->package().digest();
  const std::uint64_t driver = kernel.state->device().info().driver_key();
  core_.journal_.state().dangers().for_each_quarantine([&](const journal::Quarantine& quarantine) {
    count += quarantine.key.kernel == digest && quarantine.key.driver == driver;
  });
  return count;
}

AgentStatus EngineExplanation::status() const {
  AgentStatus status;
  status.storage = core_.journal_.storage_status();
  status.trials = core_.surroundings_.trials;
  for (const std::unique_ptr<KernelTask>& kernel : core_.kernels_) {
    if (!kernel->runner_status.ok()) status.trials = kernel->runner_status;
    status.unslotted_launches += kernel->state->unslotted_launches();
    status.class_launches += kernel->state->class_launches();
  }
  for (const std::unique_ptr<DeviceTask>& device : core_.devices_) {
    if (device->ended()) ++status.ended_devices;
    if (device->lost()) ++status.lost_devices;
  }
  status.tuning_enabled = core_.options_.mode == Mode::tune && !core_.ended_everywhere();
  if (const ShapeTask* blocked = most_blocked()) {
    status.blocker = blocker_of(*blocked);
    status.advice = advice(*blocked, status.blocker);
  }
  const LedgerState& ledger = core_.accounts_.ledger().state();
  status.kernel_seconds = static_cast<double>(ledger.kernel_ns) * 1e-9;
  status.tuning_seconds = real_seconds(core_.accounts_.tuning_wall());
  status.charged_seconds = static_cast<double>(ledger.charged_ns) * 1e-9;
  status.saved_seconds = static_cast<double>(ledger.savings_ns) * 1e-9;
  status.helper_processor_seconds = real_seconds(core_.accounts_.helper_processor());
  status.build_processor_seconds = real_seconds(core_.accounts_.build_processor());
  status.quarantined = core_.journal_.state().dangers().quarantine_count();
  return status;
}

}  // namespace idletune::detail
