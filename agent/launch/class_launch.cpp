// Launches of shapes that have no slot, and the trace of all.
#include "agent/launch/kernel_state.hpp"

#include <utility>

#include "agent/trial/tuning_data.hpp"
#include "models/core/digest.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {

void KernelState::look_at_trace() {
  if (trace_.trace == nullptr) return;
  const Nanoseconds now = trace_.clock->now();
  trace_.trace->looked(now);
  classes_.look_at_trace(now);
  for (std::size_t i = 0; i < table_.capacity(); ++i) {
    const ShapeSlot* slot = table_.at(i);
    if (slot == nullptr) continue;
    slot->current.load(std::memory_order_acquire)->proof.look(now);
    slot->of_class.proof.look(now);
    for (const auto& racer : slot->racers) {
      const Variant* variant = racer.load(std::memory_order_acquire);
      if (variant != nullptr) variant->proof.look(now);
    }
  }
}

bool KernelState::traced(const ShapeSlot& slot, const Variant& variant, bool& begins) const {
  if (trace_.trace == nullptr) return true;
  return variant.proof.begin(*trace_.trace, trace_.subject ^ digest_of(variant.configuration),
                             digest_of(slot.shape), trace_.clock->now(), begins);
}

Status KernelState::launch_unslotted(std::uint32_t lane, const LaunchOptions& options,
                                     const Shape& shape, Argument* arguments) {
  const std::uint64_t number = unslotted_.fetch_add(1, std::memory_order_relaxed);
  bool begun = false;
  const ClassVariants& offer = classes_.newest();
  const ClassVariant* found = offer.choose(shape);
  using Turn = ClassAudit::Turn;
  auto turn = Turn::nobodys;
  const Variant* mark = nullptr;
  if (found != nullptr && found->elsewhere != ClassVariant::slower &&
      classes_.compares(profiling_available())) {
    const std::uint64_t hash = LaunchTable::hash(shape);
    turn = classes_.audit.turn(hash, found->digest, number);
    mark = ClassAudit::mark(hash, found->digest);
  }
  const bool trusted = found != nullptr && found->elsewhere == ClassVariant::better;
  if (turn == Turn::defaults || (turn == Turn::nobodys && !trusted)) found = nullptr;
  // Timed for the audit where there are `tickets`.
  const auto launch_one = [&](const ClassVariant* variant, WatchTickets* tickets) {
    Profiles profiles{};
    Status status = launch_planned(lane, options, shape, variant, arguments,
                                   tickets != nullptr ? &profiles : nullptr, begun);
    if (!status.ok()) {
      discard(device_, profiles);
    } else if (tickets != nullptr) {
      post(*tickets, profiles, mark);
    }
    return status;
  };
  if (found != nullptr) {
    Status status =
        launch_one(found, turn == Turn::variants ? &classes_.audit.of_variant : nullptr);
    if (status.ok()) class_.fetch_add(1, std::memory_order_relaxed);
    if (begun && !status.ok()) offer.refused(*found);
    if (status.ok() || begun) return status;
    if (status.code() == StatusCode::busy) found = nullptr;
  }
  Status status =
      launch_one(nullptr, turn == Turn::defaults ? &classes_.audit.of_default : nullptr);
  if (status.code() == StatusCode::busy && !begun) {
    status = launch_default_once(lane, options, shape, arguments, begun);
  }
  if (!status.ok()) return unless_no_work(shape, std::move(status));
  if (found != nullptr) offer.refused(*found);
  return status;
}

// `variant`: null for the default. Busy: what it needs beside is not there, or nobody would know
// that it has begun.
Status KernelState::launch_planned(std::uint32_t lane, const LaunchOptions& options,
                                   const Shape& shape, const ClassVariant* variant,
                                   Argument* arguments, Profiles* profiles, bool& begun) {
  const KernelPackage& package = variant != nullptr ? *variant->package : *default_package_;
  const trial::StepPrograms& programs =
      variant != nullptr ? *variant->programs : builder_.default_programs();
  LaunchPlan plan;
  GivenArguments::Sizes sizes;
  Status status = package.plan(shape, kNoParameters, plan);
  if (status.ok()) status = package.sizes(shape, kNoParameters, sizes);
  if (status.ok()) status = arguments_.check_buffers(sizes, arguments, options.buffer_bytes);
  SharedScratch& scratch = builder_.shared_scratch();
  bool lent = plan.setup().empty();
  std::size_t shared = 0;
  for (const std::size_t index : arguments_.derived()) {
    if (!status.ok()) break;
    const ArgumentSpec& spec = package.argument(index);
    if (is_own_memory(spec.kind)) {
      // One step alone hands nothing on, and what a setup prepares is not shared.
      arguments[index] = Argument();
      if (plan.all().size() == 1 || !plan.setup().empty()) continue;
      const auto bytes = static_cast<std::uint64_t>(sizes[index]);
      if (!scratch.lend(shared++, bytes, arguments[index])) lent = false;
    } else if (!trial::derived_from(spec, sizes[index], arguments[index])) {
      status = package.derived_value(index, shape, kNoParameters).status();
    }
  }
  if (!status.ok()) return status;
  if (!lent || (shared > 0 && device_.capturing(options.queue)) ||
      (variant != nullptr && trace_.trace != nullptr &&
       !variant->proof->begin(*trace_.trace, trace_.subject ^ variant->digest, digest_of(shape),
                              trace_.clock->now()))) {
    return Status(StatusCode::busy, std::string());
  }
  const PlannedStep& only = plan.first();
  if (only.spec.in_order && plan.all().size() == 1) {
    return programs[only.index]->enqueue(lane, only.range, {arguments, only.spec.arguments.size()},
                                         options, profiles != nullptr ? profiles->data() : nullptr);
  }
  if (shared == 0)
    return enqueue_steps(lane, programs, plan.steps(), arguments, options, profiles, begun);
  const MutexLock lock(scratch.enqueueing);
  status = scratch.begin_on(device_, options.queue);
  if (!status.ok()) return status;
  status = enqueue_steps(lane, programs, plan.steps(), arguments, options, profiles, begun);
  const Status over = scratch.end_on(device_, options.queue);
  return status.ok() ? over : status;
}

// With device memory of its own for this launch.
Status KernelState::launch_default_once(std::uint32_t lane, const LaunchOptions& options,
                                        const Shape& shape, Argument* arguments, bool& begun) {
  Variant variant;
  Status status = builder_.plan_default(shape, variant);
  if (status.ok()) status = arguments_.complete(shape, variant, arguments);
  if (!status.ok()) return status;
  return enqueue_variant(lane, variant, 0, arguments, options, nullptr, begun);
}

}  // namespace idletune::detail
