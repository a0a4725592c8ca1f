// Launches of shapes that have no variant of their own.
#include "agent/launch/kernel_state.hpp"

#include <utility>

#include "agent/trial/tuning_data.hpp"

namespace idletune::detail {
void KernelState::offer_for_classes(std::vector<ClassVariant> variants) {
  shared_scratch_.enlarge(device_);
  auto offer = std::make_unique<ClassVariants>(++offer_count_, *package_, std::move(variants));
  offer->before = std::move(offer_);
  offer_ = std::move(offer);
  for_classes_.store(offer_.get(), std::memory_order_seq_cst);
  since_offer_.emplace(lanes_);
}

void KernelState::reclaim() {
  shared_scratch_.enlarge(device_);
  if (offer_ != nullptr && since_offer_->reached(lanes_)) offer_->before.reset();
}

const Variant* KernelState::look_for_class(ShapeSlot& slot) {
  const ClassVariants* offer = for_classes_.load(std::memory_order_seq_cst);
  if (offer == nullptr) return &slot.fallback;
  const std::uint32_t now = offer->number() + shared_scratch_.enlarged();
  if (slot.class_tried.load(std::memory_order_relaxed) == now) return &slot.fallback;
  slot.class_tried.store(now, std::memory_order_relaxed);
  const ClassVariant* found = offer->choose(slot.shape);
  if (found == nullptr || slot.class_taken.exchange(true, std::memory_order_acquire)) {
    return &slot.fallback;
  }
  Variant& variant = slot.of_class;
  if (!plan_variant(slot.shape, found->configuration, variant).ok()) return &slot.fallback;
  if (!share_scratch(slot.shape, variant)) {
    slot.class_taken.store(false, std::memory_order_release);
    return &slot.fallback;
  }
  variant.programs = found->programs;
  variant.selection = Selection::shape_class;
  const Variant* expected = &slot.fallback;
  slot.current.compare_exchange_strong(expected, &variant, std::memory_order_seq_cst);
  return slot.current.load(std::memory_order_seq_cst);
}

Status KernelState::launch_unslotted(std::uint32_t lane, const LaunchOptions& options,
                                     const Shape& shape, Argument* arguments) {
  unslotted_.fetch_add(1, std::memory_order_relaxed);
  bool begun = false;
  if (const ClassVariants* offer = for_classes_.load(std::memory_order_seq_cst)) {
    if (const ClassVariant* found = offer->choose(shape)) {
      Status status =
          launch_planned(lane, options, shape, *found->package, *found->programs, arguments, begun);
      if (status.ok()) {
        class_.fetch_add(1, std::memory_order_relaxed);
      } else if (status.code() != StatusCode::busy) {
        offer->refused(*found);
      }
      if (status.ok() || begun) return status;
    }
  }
  Status status =
      launch_planned(lane, options, shape, *default_package_, *default_programs_, arguments, begun);
  if (status.code() == StatusCode::busy && !begun) {
    status = launch_default_once(lane, options, shape, arguments, begun);
  }
  return status.ok() ? status : unless_no_work(shape, std::move(status));
}

Status KernelState::launch_planned(std::uint32_t lane, const LaunchOptions& options,
                                   const Shape& shape, const KernelPackage& package,
                                   const trial::StepPrograms& programs, Argument* arguments,
                                   bool& begun) const {
  LaunchPlan plan;
  Sizes sizes;
  Status status = package.plan(shape, kNoParameters, plan);
  if (status.ok()) status = package.sizes(shape, kNoParameters, sizes);
  if (status.ok()) status = check_given(sizes, arguments, options.buffer_bytes);
  bool lent = plan.setup().empty();
  std::size_t shared = 0;
  for (std::size_t i = 0; i < derived_count_ && status.ok(); ++i) {
    const std::size_t index = derived_[i];
    const ArgumentSpec& spec = package.argument(index);
    if (is_own_memory(spec.kind)) {
      // One step alone hands nothing on, and what a setup prepares is not shared.
      arguments[index] = Argument();
      if (plan.all().size() == 1 || !plan.setup().empty()) continue;
      const auto bytes = static_cast<std::uint64_t>(sizes[index]);
      if (!shared_scratch_.lend(shared++, bytes, arguments[index])) lent = false;
    } else if (!trial::derived_from(spec, sizes[index], arguments[index])) {
      status = package.derived_value(index, shape, kNoParameters).status();
    }
  }
  if (!status.ok()) return status;
  if (!lent) return Status(StatusCode::busy, std::string());
  const PlannedStep& only = plan.first();
  if (only.spec.in_order && plan.all().size() == 1) {
    return programs[only.index]->enqueue(lane, only.range, {arguments, only.spec.arguments.size()},
                                         options, nullptr);
  }
  if (shared == 0)
    return enqueue_steps(lane, programs, plan.steps(), arguments, options, nullptr, begun);
  const MutexLock lock(shared_scratch_.enqueueing);
  status = shared_scratch_.begin_on(device_, options.queue);
  if (!status.ok()) return status;
  return enqueue_steps(lane, programs, plan.steps(), arguments, options, nullptr, begun);
}

bool KernelState::share_scratch(const Shape& shape, Variant& variant) const {
  if (variant.plan.all().size() == 1) return true;
  if (!variant.plan.setup().empty()) return false;
  Sizes sizes;
  bool lent = package_->sizes(shape, variant.configuration, sizes).ok();
  const std::size_t count = lent ? derived_count_ : 0;
  std::size_t shared = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = derived_[i];
    if (!is_own_memory(package_->argument(index).kind)) continue;
    variant.scratch = &shared_scratch_;
    const auto bytes = static_cast<std::uint64_t>(sizes[index]);
    if (!shared_scratch_.lend(shared++, bytes, variant.derived[index])) lent = false;
  }
  return lent;
}

// With device memory of its own for this launch.
Status KernelState::launch_default_once(std::uint32_t lane, const LaunchOptions& options,
                                        const Shape& shape, Argument* arguments,
                                        bool& begun) const {
  Variant variant;
  Status status = plan_default(shape, variant);
  if (status.ok()) status = complete_arguments(shape, variant, arguments);
  if (!status.ok()) return status;
  return enqueue_variant(lane, variant, 0, arguments, options, nullptr, begun);
}

}  // namespace idletune::detail
