// Launches of shapes that have no variant of their own.
#include "agent/launch/kernel_state.hpp"

#include <utility>

#include "agent/launch/yield.hpp"
#include "agent/trial/tuning_data.hpp"
#include "models/core/digest.hpp"

namespace idletune::detail {

void KernelState::publish(std::unique_ptr<ClassVariants> offer) {
  offer->before = std::move(offered_);
  offered_ = std::move(offer);
  IDLETUNE_YIELD("offering");
  offer_.store(offered_.get(), std::memory_order_seq_cst);
  since_offer_.emplace(lanes_);
}

void KernelState::offer_for_classes(std::vector<ClassVariant> variants) {
  builder_.shared_scratch().enlarge(device_);
  publish(std::make_unique<ClassVariants>(offered_->number() + 1, *package_, std::move(variants),
                                          offered_.get()));
}

void KernelState::lost_for_class(ShapeSlot& slot, const Configuration& configuration) {
  const std::uint64_t digest = digest_of(configuration);
  if (slot.has_lost(digest)) return;
  IDLETUNE_YIELD("losing");
  std::size_t i = 0;
  while (i + 1 < slot.lost.size() && slot.lost[i].load(std::memory_order_relaxed) != 0) ++i;
  const bool last = i + 1 == slot.lost.size();
  slot.lost[i].store(last ? ShapeSlot::kAllLost : digest, std::memory_order_relaxed);
  IDLETUNE_YIELD("lost");
  // Who launches under the next number sees it.
  publish(std::make_unique<ClassVariants>(offered_->number() + 1, *offered_));
}

void KernelState::reclaim() {
  builder_.shared_scratch().enlarge(device_);
  if (since_offer_->reached(lanes_)) offered_->before.reset();
}

void KernelState::look_at_trace() {
  if (trace_.trace == nullptr) return;
  const Nanoseconds now = trace_.clock->now();
  trace_.trace->looked(now);
  offered_->look(now);
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

bool KernelState::traced(const ShapeSlot& slot, const Variant& variant) const {
  if (trace_.trace == nullptr) return true;
  return variant.proof.begin(*trace_.trace, trace_.subject ^ digest_of(variant.configuration),
                             digest_of(slot.shape), trace_.clock->now());
}

const Variant* KernelState::look_for_class(ShapeSlot& slot, const Variant* current,
                                           std::uint64_t launches) {
  // Compared at every use: whatever was taken back before this launch began does not run.
  const ClassVariants& offer = *offer_.load(std::memory_order_seq_cst);
  IDLETUNE_YIELD("offer read");
  std::uint32_t stamp = slot.class_stamp.load(std::memory_order_relaxed);
  const bool stale = stamp / 2 != offer.number() && !IDLETUNE_SEEDED(stamps_not_compared);
  if (current == &slot.fallback || stale) {
    const std::uint32_t looked = offer.number() + builder_.shared_scratch().enlarged();
    if (slot.class_tried.load(std::memory_order_relaxed) == looked) return &slot.fallback;
    slot.class_tried.store(looked, std::memory_order_relaxed);
    if (!install_for_class(slot, offer)) return &slot.fallback;
    current = slot.current.load(std::memory_order_seq_cst);
    if (current != &slot.of_class) return current;
    stamp = slot.class_stamp.load(std::memory_order_relaxed);
  }
  if ((stamp & 1) != 0) return current;
  const bool racing = slot.race_turns.load(std::memory_order_relaxed) != 0;
  // Else the default would find no ticket, and never be timed.
  const bool its_turn = LaunchTurns::at(LaunchTurns::pack(2, 1, true), launches) == 0;
  if (!compares() || racing || !its_turn || !slot.take_grant()) return &slot.fallback;
  current->trial_launches.fetch_add(1, std::memory_order_relaxed);
  return current;
}

bool KernelState::install_for_class(ShapeSlot& slot, const ClassVariants& offer) {
  IDLETUNE_YIELD("class looked up");
  const bool compared = compares();
  const ClassVariant* found = offer.choose(slot.shape);
  if (found == nullptr || !(compared || found->elsewhere == ClassVariant::better)) return false;
  if (slot.has_lost(found->digest)) return false;
  std::uint32_t state = ShapeSlot::none;
  if (slot.class_state.compare_exchange_strong(state, ShapeSlot::filling,
                                               std::memory_order_acq_rel)) {
    IDLETUNE_YIELD("filling");
    const bool filled = builder_.plan_for_class(slot.shape, *found, slot.of_class);
    slot.class_state.store(filled ? ShapeSlot::there : ShapeSlot::none, std::memory_order_release);
    if (!filled) return false;
  } else if (state == ShapeSlot::filling) {
    slot.class_tried.store(0, std::memory_order_relaxed);  // once that has ended
    return false;
  } else if (slot.of_class.programs != found->programs) {
    return false;
  }
  // Numbers only rise: what comes late revives nothing.
  std::uint32_t stamp = slot.class_stamp.load(std::memory_order_relaxed);
  while (stamp / 2 < offer.number()) {
    const std::uint32_t kept = compared ? stamp & 1 : 1;
    if (slot.class_stamp.compare_exchange_weak(stamp, offer.number() * 2 + kept,
                                               std::memory_order_relaxed)) {
      break;
    }
  }
  IDLETUNE_YIELD("stamped");
  const Variant* expected = &slot.fallback;
  slot.current.compare_exchange_strong(expected, &slot.of_class, std::memory_order_seq_cst);
  IDLETUNE_YIELD("installed");
  // Planning takes long.
  return offer_.load(std::memory_order_seq_cst) == &offer;
}

bool KernelState::runs_for_class(const ShapeSlot& slot) const {
  if (slot.current.load(std::memory_order_acquire) != &slot.of_class) return false;
  const std::uint32_t stamp = slot.class_stamp.load(std::memory_order_relaxed);
  if (stamp / 2 == offered_->number()) return true;
  const ClassVariant* found = class_candidate(slot);
  return found != nullptr && found->programs == slot.of_class.programs;
}

const ClassVariant* KernelState::class_candidate(const ShapeSlot& slot) const {
  const ClassVariant* found = offered_->choose(slot.shape);
  return found != nullptr && !slot.has_lost(found->digest) ? found : nullptr;
}

Status KernelState::launch_unslotted(std::uint32_t lane, const LaunchOptions& options,
                                     const Shape& shape, Argument* arguments) {
  const std::uint64_t number = unslotted_.fetch_add(1, std::memory_order_relaxed);
  bool begun = false;
  const ClassVariants* offer = offer_.load(std::memory_order_seq_cst);
  const ClassVariant* found = offer->choose(shape);
  using Turn = ClassAudit::Turn;
  auto turn = Turn::nobodys;
  if (found != nullptr && found->elsewhere != ClassVariant::slower && compares()) {
    turn = audit_.turn(LaunchTable::hash(shape), found->digest, number);
  }
  const bool trusted = found != nullptr && found->elsewhere == ClassVariant::better;
  if (turn == Turn::defaults || (turn == Turn::nobodys && !trusted)) found = nullptr;
  if (found != nullptr && trace_.trace != nullptr &&
      !found->proof->begin(*trace_.trace, trace_.subject ^ found->digest, digest_of(shape),
                           trace_.clock->now())) {
    found = nullptr;
  }
  // Timed for the audit where there are `tickets`.
  const auto launch_one = [&](const KernelPackage& package, const trial::StepPrograms& programs,
                              WatchTickets* tickets) {
    Profiles profiles{};
    Status status = launch_planned(lane, options, shape, package, programs, arguments,
                                   tickets != nullptr ? &profiles : nullptr, begun);
    if (!status.ok()) {
      discard(device_, profiles);
    } else if (tickets != nullptr) {
      post(*tickets, profiles, nullptr);
    }
    return status;
  };
  if (found != nullptr) {
    Status status = launch_one(*found->package, *found->programs,
                               turn == Turn::variants ? &audit_.of_variant : nullptr);
    if (status.ok()) class_.fetch_add(1, std::memory_order_relaxed);
    if (begun && !status.ok()) offer->refused(*found);
    if (status.ok() || begun) return status;
    if (status.code() == StatusCode::busy) found = nullptr;
  }
  Status status = launch_one(*default_package_, builder_.default_programs(),
                             turn == Turn::defaults ? &audit_.of_default : nullptr);
  if (status.code() == StatusCode::busy && !begun) {
    status = launch_default_once(lane, options, shape, arguments, begun);
  }
  if (!status.ok()) return unless_no_work(shape, std::move(status));
  if (found != nullptr) offer->refused(*found);
  return status;
}

Status KernelState::launch_planned(std::uint32_t lane, const LaunchOptions& options,
                                   const Shape& shape, const KernelPackage& package,
                                   const trial::StepPrograms& programs, Argument* arguments,
                                   Profiles* profiles, bool& begun) {
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
  if (!lent) return Status(StatusCode::busy, std::string());
  const PlannedStep& only = plan.first();
  if (only.spec.in_order && plan.all().size() == 1) {
    return programs[only.index]->enqueue(lane, only.range, {arguments, only.spec.arguments.size()},
                                         options, profiles != nullptr ? profiles->data() : nullptr);
  }
  if (shared == 0)
    return enqueue_steps(lane, programs, plan.steps(), arguments, options, profiles, begun);
  if (device_.capturing(options.queue)) return Status(StatusCode::busy, std::string());
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
