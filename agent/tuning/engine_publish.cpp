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
void TuningEngine::install(ShapeTask& task, const Configuration& configuration, Selection selection,
                           Nanoseconds time) {
  task.to_install = configuration;
  task.install_as = selection;
  task.install_time = time;
  building_ = &task;
  built_.reset();
  const KernelState* kernel = task.kernel.state.get();
  const ShapeSlot* slot = &task.slot;
  const Nanoseconds deadline = code_generation_deadline() + std::chrono::seconds(5);
  auto job = [this, kernel, slot, configuration, selection, deadline] {
    Result<std::unique_ptr<Variant>> variant = kernel->build(*slot, configuration, selection);
    build_status_ = variant.status();
    if (!variant.ok()) return;
    built_ = std::move(*variant);
    const KernelPackage& package = kernel->package();
    build_status_ =
        warm_up(kernel->device(), package, *built_->program,
                package.plan(smallest_shape(package), configuration), configuration, deadline);
    if (!build_status_.ok()) built_.reset();
  };
  if (kernel->device().info().backend == "replay") {
    job();
    finish_install();
  } else {
    worker_.start(std::move(job));
  }
}

void TuningEngine::finish_install() {
  ShapeTask& task = *building_;
  building_ = nullptr;
  if (!task.to_install) return;
  const Configuration configuration = *task.to_install;
  task.to_install.reset();
  if (built_ == nullptr) {
    log(1, {task.kernel.state->name(),
            ": an accepted configuration does not build for launches: ", build_status_.message()});
    if (build_status_.code() == StatusCode::timeout) {
      ended_ = true;
      ended_why_ = "a launch never ended";
    }
    if (task.in_place) {
      task.in_place->on_build_failure();
      end_in_place(task);
    }
    return;
  }
  if (task.in_place && task.in_place->checked()) {
    task.candidate = std::move(built_);
    task.slot.in_place.store(task.candidate.get(), std::memory_order_seq_cst);
    task.slot.in_place_period.store(task.in_place->period(), std::memory_order_relaxed);
    return;
  }
  publish(task, std::move(built_), task.install_time);
  journal::Adoption adoption;
  adoption.trial = task.identity;
  adoption.trial.configuration = configuration;
  adoption.expected = task.install_time;
  adoption.default_time = task.default_time;
  adoption.checked_seeds = 2;
  journal_.adopted(adoption);
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
  install(task, task.proposal.configuration, Selection::tuned, Nanoseconds{0});
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
