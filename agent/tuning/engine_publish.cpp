// From an accepted configuration to the launches that run it, and back.
#include <algorithm>

#include "agent/trial/warm_up.hpp"

#include <idletune/text.hpp>

#include "agent/tuning/tuning_engine.hpp"

namespace idletune::detail {
namespace {

constexpr std::int32_t kEagerSamples = 16;

}  // namespace

// Building needs the CPU only (the first launch, on the smallest shape, holds the device for
// microseconds), so it may outlive the gap.
void TuningEngine::install(ShapeTask& task, const Install& install) {
  task.install = install;
  building_ = &task;
  worker_.start([this, &task, install] { build_for_launches(task, install); });
}

// Any thread; built_ and build_status_ are the result.
void TuningEngine::build_for_launches(const ShapeTask& task, const Install& install) {
  KernelState& kernel = *task.kernel.state;
  built_.reset();
  Result<std::unique_ptr<Variant>> variant =
      kernel.build(task.slot, install.configuration, install.selection);
  build_status_ = variant.status();
  if (!variant.ok()) return;
  const KernelPackage& package = kernel.package();
  build_status_ =
      warm_up(kernel.device(), package, *(*variant)->program,
              package.plan(smallest_shape(package), install.configuration), install.configuration,
              code_generation_deadline() + std::chrono::seconds(5));
  if (build_status_.ok()) built_ = std::move(*variant);
}

void TuningEngine::finish_install() {
  ShapeTask& task = *building_;
  building_ = nullptr;
  if (!task.install) return;
  const Install install = *task.install;
  task.install.reset();
  if (built_ == nullptr) {
    install_failed(task);
    return;
  }
  if (task.in_place && task.in_place->checked()) {
    task.candidate = std::move(built_);
    task.slot.in_place.store(task.candidate.get(), std::memory_order_seq_cst);
    task.slot.in_place_period.store(task.in_place->period(), std::memory_order_relaxed);
    return;
  }
  publish(task, std::move(built_), install.time);
  if (install.recalled) return;
  journal::Adoption adoption;
  adoption.trial = task.identity;
  adoption.trial.configuration = install.configuration;
  adoption.expected = install.time;
  adoption.default_time = task.default_time;
  adoption.checked_seeds = 2;
  journal_.adopted(adoption);
}

void TuningEngine::install_failed(ShapeTask& task) {
  log(1, {task.kernel.state->name(),
          ": an accepted configuration does not build for launches: ", build_status_.message()});
  if (build_status_.code() == StatusCode::timeout) end_tuning(task.kernel, "a launch never ended");
  if (!task.in_place) return;
  task.in_place->on_build_failure();
  end_in_place(task);
}

// What an earlier session adopted for a shape that was launched for the first time is built before
// anything is searched. True if there was such a shape.
bool TuningEngine::recall_one() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (!task->recalled) continue;
      const Install recalled = *task->recalled;
      task->recalled.reset();
      install(*task, recalled);
      return true;
    }
  }
  return false;
}

void TuningEngine::publish_recalled(ShapeTask& task) {
  if (!task.recalled) return;
  release_device();
  task.install = task.recalled;
  task.recalled.reset();
  building_ = &task;
  build_for_launches(task, *task.install);
  finish_install();
}

void TuningEngine::publish(ShapeTask& task, std::unique_ptr<Variant> variant, Nanoseconds time) {
  credit_launches(task);  // at the old time
  const Variant* next = variant ? variant.get() : &task.slot.fallback;
  task.slot.current.store(next, std::memory_order_seq_cst);
  task.slot.eager_samples.store(kEagerSamples, std::memory_order_relaxed);
  if (task.variant) task.retired.push_back(std::move(task.variant));
  task.variant = std::move(variant);
  task.quiescence.emplace(task.kernel.state->lanes());
  task.running_time = time;
  task.production.clear();
  task.watch = ProductionWatch(task.default_time, time);
  if (!task.kernel.state->profiling_available()) task.watch.profiling_unavailable();
}

void TuningEngine::demote(ShapeTask& task, const char* why) {
  log(2, {task.kernel.state->name(), ": back to the default, ", why});
  journal_.demoted(task.identity.shape_key());
  publish(task, nullptr, task.default_time);
}

void TuningEngine::start_in_place_timing(ShapeTask& task) {
  if (current_ == &task) current_ = nullptr;
  install(task, {task.proposal.configuration, Selection::tuned, Nanoseconds{0}, false});
}

void TuningEngine::stop_in_place_timing(ShapeTask& task) {
  task.slot.in_place_period.store(0, std::memory_order_relaxed);
  task.slot.in_place.store(nullptr, std::memory_order_seq_cst);
  if (!task.candidate) return;
  task.retired.push_back(std::move(task.candidate));
  task.quiescence.emplace(task.kernel.state->lanes());
}

void TuningEngine::reclaim(ShapeTask& task) {
  if (task.retired.empty() || !task.quiescence) return;
  if (!task.quiescence->reached(task.kernel.state->lanes())) return;
  // Tickets name the variant they were drawn for; drain_tickets has just emptied what had ended.
  for (std::size_t i = 0; i < ShapeSlot::kTickets; ++i) {
    if (task.slot.ticket_states[i].load(std::memory_order_acquire) != 0) return;
  }
  task.retired.clear();
  task.quiescence.reset();
}

}  // namespace idletune::detail
