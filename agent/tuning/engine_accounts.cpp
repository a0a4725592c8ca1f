// What the engine knows: journal and model on the way in, production times, the ledger,
// explanations.
#include <algorithm>
#include <cmath>

#include "agent/search/searchers.hpp"

#include <idletune/text.hpp>

#include "agent/tuning/tuning_engine.hpp"
#include "models/core/digest.hpp"
#include "models/core/order.hpp"

namespace idletune::detail {
namespace {

constexpr std::uint32_t kRecheckRounds = 1000;  // calls of run() that a second measurement may wait
constexpr std::size_t kMaxPublishedAtStart = 16;  // adoptions built at start-up, per kernel

double milliseconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-6; }

// The indices of the measurements by the clock, which is all that a journal keeps of their order;
// it matters a little to what is believed.
std::vector<std::uint32_t> in_order(const std::vector<journal::Measurement>& measurements) {
  return order_of(measurements.size(), [&](std::uint32_t a, std::uint32_t b) {
    return measurements[a].unix_seconds < measurements[b].unix_seconds;
  });
}

}  // namespace

std::shared_ptr<const KernelModel> KernelModel::of(const std::shared_ptr<const Model>& model,
                                                   const KernelPackage& package) {
  if (model == nullptr) return nullptr;
  const KernelKnowledge* knowledge = model->kernel(package.name(), package.space());
  if (knowledge == nullptr) return nullptr;
  return std::make_shared<const KernelModel>(
      KernelModel{model, knowledge, KernelQuantiles(*knowledge)});
}

KernelTask& TuningEngine::add_kernel(std::unique_ptr<KernelState> state,
                                     const std::shared_ptr<const Model>& model) {
  auto owned = std::make_unique<KernelTask>();
  KernelTask& kernel = *owned;
  kernel.state = std::move(state);
  kernel.device = &device_task(kernel.state->device());
  kernels_.push_back(std::move(owned));
  const KernelPackage& package = kernel.state->package();
  kernel.model = KernelModel::of(model, package);
  if (options_.mode == Mode::off) return kernel;
  const DeviceInfo& device = kernel.state->device().info();
  std::vector<journal::Adoption> adoptions;
  journal_.state().for_each_adoption([&](const journal::Adoption& adoption) {
    if (adoption.trial.kernel == package.digest() && adoption.trial.device == device.device_key() &&
        adoption.trial.driver == device.driver_key()) {
      adoptions.push_back(adoption);
    }
  });
  if (adoptions.size() > kMaxPublishedAtStart) adoptions.resize(kMaxPublishedAtStart);
  for (const journal::Adoption& adoption : adoptions) {
    Result<ShapeSlot*> slot = kernel.state->slot_for(adoption.trial.shape);
    if (!slot.ok()) continue;
    if (ShapeTask* task = shape_task(kernel, **slot)) publish_recalled(*task);
  }
  return kernel;
}

KernelTask* TuningEngine::task_of(const KernelState& state) {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (kernel->state.get() == &state) return kernel.get();
  }
  return nullptr;
}

ShapeTask* TuningEngine::shape_task(KernelTask& kernel, ShapeSlot& slot) {
  for (const std::unique_ptr<ShapeTask>& task : kernel.shapes) {
    if (&task->slot == &slot) return task.get();
  }
  if (kernel.state->table().find(slot.shape, slot.hash) != &slot) return nullptr;
  kernel.shapes.push_back(std::make_unique<ShapeTask>(kernel, slot));
  ShapeTask& task = *kernel.shapes.back();
  load_knowledge(task);
  return &task;
}

void TuningEngine::notice_new_shapes() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    const std::size_t count = kernel->state->table().count();
    while (kernel->slots_seen < count) {
      ShapeSlot* slot = kernel->state->table().at(kernel->slots_seen);
      if (slot == nullptr) break;  // counted, about to be listed
      ++kernel->slots_seen;
      shape_task(*kernel, *slot);
    }
  }
}

// What an earlier session measured, as if it was told now.
void TuningEngine::recall(ShapeTask& task, const journal::Measurement& measurement) {
  ShapeEvidence& evidence = task.evidence;
  const Configuration& configuration = measurement.trial.configuration;
  const bool correct = measurement.status == TrialStatus::correct;
  if (configuration == task.kernel.state->package().default_configuration()) {
    // The default is the baseline, not a step of the search.
    if (correct) evidence.saw(measurement.median);
    if (!correct) ++evidence.rejected;
  } else {
    const ProposalOrigin origin = task.searcher->recall(configuration);
    evidence.step_ended({configuration, origin}, measurement.status, measurement.median);
  }
  task.searcher->tell(configuration, {measurement.status, measurement.median, measurement.compile});
  if (evidence.first_pick && configuration == evidence.first_pick->configuration) {
    evidence.first_pick_tried = true;
    task.first_pick_time = measurement.median;
  }
}

// In the order in which they were made, as far as the journal tells.
std::vector<journal::Measurement> TuningEngine::measurements_of(const ShapeTask& task) const {
  std::vector<journal::Measurement> measurements;
  journal_.state().for_each_measurement(
      task.identity.shape_key(),
      [&](const journal::Measurement& measurement) { measurements.push_back(measurement); });
  std::vector<journal::Measurement> ordered;
  for (const std::uint32_t i : in_order(measurements)) ordered.push_back(measurements[i]);
  return ordered;
}

// A searcher that knows nothing of this device yet, and what the model says.
void TuningEngine::set_up_search(ShapeTask& task) {
  const KernelTask& kernel = task.kernel;
  const KernelPackage& package = kernel.state->package();
  const std::string& device = kernel.state->device().info().name;
  task.model = kernel.model;
  const KernelKnowledge* knowledge = task.model != nullptr ? task.model->knowledge : nullptr;
  SearcherOptions search;
  search.seed = options_.seed ^ digest_of(task.slot.shape);
  search.fallback = package.default_configuration();
  search.shape = task.slot.shape;
  search.device = device;
  search.learner = options_.learner;
  task.searcher = make_product_searcher(package.space(), knowledge, search);
  task.searcher->exclude(package.default_configuration());
  ShapeEvidence& evidence = task.evidence;
  // Published configurations alone tell nothing about the distribution.
  const bool measured = knowledge != nullptr && knowledge->source_count() > 0;
  evidence.knowledge = measured ? knowledge : nullptr;
  evidence.quantiles = measured ? &task.model->quantiles : nullptr;
  evidence.first_pick.reset();
  evidence.first_pick_tried = false;
  if (knowledge != nullptr) {
    evidence.first_pick = first_pick(*knowledge, package.space(), task.slot.shape, device,
                                     package.default_configuration());
  }
}

void TuningEngine::load_knowledge(ShapeTask& task) {
  KernelTask& kernel = task.kernel;
  const KernelPackage& package = kernel.state->package();
  const DeviceInfo& device = kernel.state->device().info();
  task.identity.kernel = package.digest();
  task.identity.device = device.device_key();
  task.identity.driver = device.driver_key();
  task.identity.shape = task.slot.shape;
  task.first_seen = now();
  task.estimates.adopt_compile(kernel.compile_estimates);
  if (!kernel.state->profiling_available()) task.watch.profiling_unavailable();

  set_up_search(task);
  ShapeEvidence& evidence = task.evidence;
  const journal::State& state = journal_.state();
  const journal::ShapeKey key = task.identity.shape_key();
  for (const journal::Measurement& measurement : measurements_of(task)) recall(task, measurement);
  if (std::optional<journal::Adoption> stale = state.stale_adoption(key)) {
    if (package.space().contains(stale->trial.configuration)) {
      task.hints.push_back(stale->trial.configuration);
    }
  }
  if (std::optional<journal::ShapeStatistics> past =
          state.shape_statistics(task.identity.kernel, task.slot.shape)) {
    task.past_launches = past->launches;
    task.past_sessions = past->sessions;
    task.past_active_seconds = past->active_seconds;
  }
  const std::optional<journal::Adoption> adoption = state.adoption(key);
  if (options_.mode == Mode::off || !adoption) return;
  journal::TrialKey adopted_key = adoption->trial.key();
  if (state.is_quarantined(adopted_key) || state.is_suspect(adopted_key)) return;
  const Selection selection =
      evidence.first_pick && adoption->trial.configuration == evidence.first_pick->configuration
          ? Selection::first_pick
          : Selection::tuned;
  task.default_time = adoption->default_time;
  task.recalled = Install{adoption->trial.configuration, selection, adoption->expected, true};
}

// --- another model ---

void TuningEngine::use_model(const std::shared_ptr<const Model>& model) {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_)
    kernel->model = KernelModel::of(model, kernel->state->package());
}

// Nothing of the shape's search is under way: neither a trial nor a stage nor a build.
bool TuningEngine::at_rest(const ShapeTask& task) const {
  return !task.baseline && !task.trial && !task.in_place && !task.install && building_ != &task &&
         !(in_flight_ && in_flight_->task == &task);
}

// Evidence from here does not depend on the model and stays; the searcher is told it again.
void TuningEngine::renew_knowledge(ShapeTask& task) {
  set_up_search(task);
  ShapeEvidence& evidence = task.evidence;
  for (const journal::Measurement& measurement : measurements_of(task)) {
    const Configuration& configuration = measurement.trial.configuration;
    if (configuration != task.slot.fallback.configuration)
      (void)task.searcher->recall(configuration);
    task.searcher->tell(configuration,
                        {measurement.status, measurement.median, measurement.compile});
    if (!evidence.first_pick || configuration != evidence.first_pick->configuration) continue;
    evidence.first_pick_tried = true;
    task.first_pick_time = measurement.median;
  }
  task.exhausted = false;
}

// One per call of run(), so that none of them takes long.
void TuningEngine::renew_one(ShapeTask* preferred) {
  ShapeTask* next = nullptr;
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (task->model == kernel->model || !at_rest(*task)) continue;
      if (next == nullptr || task.get() == preferred) next = task.get();
    }
  }
  if (next != nullptr) renew_knowledge(*next);
}

// --- production ---

void TuningEngine::drain_tickets(ShapeTask& task) {
  Device& device = task.kernel.state->device();
  for (std::size_t i = 0; i < ShapeSlot::kTickets; ++i) {
    if (task.slot.ticket_states[i].load(std::memory_order_acquire) != 2) continue;
    const WatchTicket ticket = task.slot.tickets[i];
    Result<Nanoseconds> time = device.elapsed(ticket.profile);
    if (!time.ok() && time.code() == StatusCode::busy) continue;
    task.slot.ticket_states[i].store(0, std::memory_order_release);
    if (!time.ok() || time->count() <= 0) continue;
    if (task.candidate && ticket.variant == task.candidate.get()) {
      if (!task.in_place) continue;
      task.in_place->on_candidate_time(*time);
      const Nanoseconds loss = task.in_place->last_loss(*time);
      if (loss.count() > 0 && loss < *time) {
        ledger_.charge_busy(loss);
        task.charged += loss;
      }
      continue;
    }
    const Variant* running = task.variant ? task.variant.get() : &task.slot.fallback;
    if (ticket.variant != running) continue;
    task.production.add(*time);
    task.watch.sample(*time);
    if (task.in_place) task.in_place->on_incumbent_time(*time);
    if (task.running_time.count() == 0) task.running_time = *time;
  }
  if (!task.in_place || !task.in_place->checked()) return;
  if (task.in_place->done()) {
    task.slot.in_place_period.store(0, std::memory_order_relaxed);
    if (building_ == nullptr) end_in_place(task);  // else in a later round: one build at a time
  } else if (task.candidate) {
    task.slot.in_place_period.store(task.in_place->period(), std::memory_order_relaxed);
  }
}

void TuningEngine::credit_launches(ShapeTask& task) {
  const std::uint64_t launches = task.launches();
  const std::uint64_t fresh = launches - task.credited_launches;
  const Nanoseconds per_launch =
      task.production.count() > 0 ? task.production.median() : task.running_time;
  if (fresh == 0 || per_launch.count() == 0) return;
  task.credited_launches = launches;
  const std::int64_t count = static_cast<std::int64_t>(std::min<std::uint64_t>(fresh, 1u << 30));
  if (task.kernel.state->profiling_available()) {
    const Nanoseconds saving = task.variant ? task.watch.saving_per_launch() : Nanoseconds{0};
    ledger_.credit(per_launch * count, saving * count);
  } else {
    // Nobody timed these launches: no more than the clock allows, and nothing counts as saved.
    ledger_.credit(task.kernel.device->at_most_the_clock(per_launch * count, now()));
  }
}

void TuningEngine::watch_production(ShapeTask& task) {
  if (task.slot.enqueue_failures.exchange(0, std::memory_order_relaxed) > 0 && task.variant) {
    demote(task, "the driver refused to launch it");
    return;
  }
  if (!task.variant || task.in_place || task.install) return;
  const WatchStatus status = task.watch.status();
  const bool loses = status == WatchStatus::demote;
  if (!loses && status != WatchStatus::recheck) return;
  const bool can_recheck = options_.mode == Mode::tune && can_tune(task.kernel);
  if (task.rechecking && ++task.recheck_rounds < kRecheckRounds) return;
  if (loses && (task.rechecking || !can_recheck)) {
    // Nobody can say whether only the clock dropped: the default is what was promised.
    task.trial.reset();
    task.rechecking = false;
    demote(task, "slower in production than the default was");
    return;
  }
  if (task.trial || !can_recheck) return;
  // A throttled clock slows the default down as well: both are measured again, side by side.
  CandidateContext context;
  context.shape = task.slot.shape;
  context.candidate = task.running();
  context.incumbent = task.slot.fallback.configuration;
  task.trial.emplace(step_options(), context);
  task.rechecking = true;
  task.recheck_rounds = 0;
}

void TuningEngine::note(bool write_now) {
  const Nanoseconds time = now();
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (task->launches() == 0) continue;
      journal::ShapeStatistics statistics;
      statistics.kernel = task->identity.kernel;
      statistics.shape = task->slot.shape;
      statistics.launches = task->past_launches + task->launches();
      statistics.sessions = task->past_sessions + 1;
      const Nanoseconds active = now() - task->first_seen;
      statistics.active_seconds =
          task->past_active_seconds + static_cast<std::uint64_t>(active.count() / 1000000000);
      journal_.note_shape(statistics, time);
    }
  }
  journal::Ledger account;
  account.charged = Nanoseconds(ledger_.state().charged_ns);
  account.kernel_time = Nanoseconds(ledger_.state().kernel_ns);
  account.savings = Nanoseconds(ledger_.state().savings_ns);
  journal_.note_ledger(account, time);
  journal_.retry_storage(time);
  if (write_now) (void)journal_.sync();
}

// --- explanations ---

std::uint64_t TuningEngine::quarantined(const KernelTask& kernel) const {
  std::uint64_t count = 0;
  const std::uint64_t digest = kernel.state->package().digest();
  const std::uint64_t driver = kernel.state->device().info().driver_key();
  journal_.state().for_each_quarantine([&](const journal::Quarantine& quarantine) {
    count += quarantine.key.kernel == digest && quarantine.key.driver == driver;
  });
  return count;
}

Explanation TuningEngine::explain(const ShapeTask& task) const {
  Explanation text;
  const KernelState& kernel = *task.kernel.state;
  text.kernel = kernel.name();
  text.shape = task.slot.shape;
  text.selection = task.selection();
  text.running = task.running();
  text.running_text = to_text(kernel.package().space(), text.running);
  if (task.evidence.first_pick)
    text.first_pick_quality = pick_quality_name(task.evidence.first_pick->quality);
  text.default_ms = milliseconds(task.default_time);
  text.first_pick_ms = milliseconds(task.first_pick_time);
  text.running_ms = milliseconds(task.running_time);
  if (task.default_time.count() > 0 && task.running_time.count() > 0) {
    text.speed_up = text.default_ms / text.running_ms;
  }
  text.expected_launches = expected_launches(task);
  text.tuning_ms = milliseconds(task.tuning_wall);
  text.charged_ms = milliseconds(task.charged);
  text.launches = task.launches();
  text.evaluated = task.evidence.evaluated;
  text.rejected = task.evidence.rejected;
  text.quarantined = quarantined(task.kernel);
  text.production_watch =
      kernel.profiling_available() ? watch_status_name(task.watch.status()) : "unavailable";
  text.launches_said = task.said_launches >= 0;
  if (const DevicePosterior* beliefs = task.searcher->outlook().beliefs) {
    for (std::size_t d = 0; d < beliefs->source_count(); ++d) {
      text.resembles.push_back({std::string(beliefs->device(d)), beliefs->weight(d)});
    }
  }
  if (task.kernel.device->ended()) {
    text.verdict = Verdict::stop;
    text.reason = task.kernel.device->ended_why();
  } else if (!task.kernel.runner_status.ok()) {
    text.verdict = Verdict::stop;
    text.reason = task.kernel.runner_status.message();
  } else if (task.exhausted) {
    text.verdict = Verdict::stop;
    text.reason = "Every configuration has been tried.";
  } else if (task.decided) {
    text.verdict = task.decision.verdict;
    text.reason = std::string(task.decision.reason());
    text.expected_steps = task.decision.expected_steps;
    text.cost_ms = task.decision.cost_ns * 1e-6;
    text.gain_ms = task.decision.gain_ns * 1e-6;
    text.break_even_launches = task.decision.break_even_launches;
    text.fraction = task.decision.fraction;
    text.fraction_low = task.decision.fraction_low;
    text.fraction_high = task.decision.fraction_high;
    text.fraction_origin = fraction_origin_name(task.decision.fraction_origin);
    text.best_estimate_ms = task.decision.best_estimate_ns * 1e-6;
    text.pessimistic_net_ms = task.decision.pessimistic_net_ns * 1e-6;
    text.step_ms = milliseconds(step_charge(task));
  } else if (task.baseline_failed) {
    text.verdict = Verdict::stop;
    text.reason = "The default configuration could not be measured, so nothing can be compared.";
  } else {
    text.verdict = Verdict::wait;
    text.reason = "The default has not been timed yet";
    if (gap_needed_.count() > 0 && longest_gap_.count() > 0) {
      text.reason +=
          joined({": that takes an idle gap of ", gap_needed_.count() / 1000000 + 1,
                  " ms, the longest offered was ", longest_gap_.count() / 1000000, " ms"});
    }
    text.reason += ".";
  }
  return text;
}

AgentStatus TuningEngine::status() const {
  AgentStatus status;
  status.storage = journal_.storage_status();
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    if (!kernel->runner_status.ok()) status.trials = kernel->runner_status;
    status.unslotted_launches += kernel->state->unslotted_launches();
  }
  status.tuning_enabled = options_.mode == Mode::tune && !ended_everywhere();
  for (const std::unique_ptr<DeviceTask>& device : devices_) {
    if (device->ended()) ++status.ended_devices;
  }
  status.kernel_seconds = static_cast<double>(ledger_.state().kernel_ns) * 1e-9;
  status.tuning_seconds = static_cast<double>(tuning_wall_.count()) * 1e-9;
  status.charged_seconds = static_cast<double>(ledger_.state().charged_ns) * 1e-9;
  status.saved_seconds = static_cast<double>(ledger_.state().savings_ns) * 1e-9;
  status.quarantined = journal_.state().quarantine_count();
  return status;
}

}  // namespace idletune::detail
