// Launches of shapes that have no variant of their own.
#include "agent/launch/kernel_state.hpp"

namespace idletune::detail {

void KernelState::offer_for_classes(std::vector<ClassVariant> variants) {
  offers_.push_back(std::make_unique<const ClassVariants>(++offer_count_, std::move(variants)));
  for_classes_.store(offers_.back().get(), std::memory_order_seq_cst);
  since_offer_.emplace(lanes_);
}

void KernelState::reclaim() {
  if (offers_.size() < 2 || !since_offer_->reached(lanes_)) return;
  offers_.erase(offers_.begin(), offers_.end() - 1);
}

const Variant* KernelState::look_for_class(ShapeSlot& slot) {
  const ClassVariants* offer = for_classes_.load(std::memory_order_seq_cst);
  if (offer == nullptr || slot.class_tried.load(std::memory_order_relaxed) == offer->number()) {
    return &slot.fallback;
  }
  slot.class_tried.store(offer->number(), std::memory_order_relaxed);
  const ClassVariant* found = offer->choose(*package_, slot.shape);
  if (found == nullptr || slot.class_taken.exchange(true, std::memory_order_relaxed)) {
    return &slot.fallback;
  }
  Variant& variant = slot.of_class;
  if (!plan_variant(slot.shape, found->configuration, variant).ok()) return &slot.fallback;
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
    if (const ClassVariant* found = offer->choose(*package_, shape)) {
      Status status = launch_planned(lane, options, shape, found->configuration, *found->programs,
                                     arguments, begun);
      if (status.ok()) class_.fetch_add(1, std::memory_order_relaxed);
      if (!status.ok()) offer->refused(*found);
      if (status.ok() || begun) return status;
    }
  }
  return unless_no_work(shape,
                        launch_planned(lane, options, shape, package_->default_configuration(),
                                       *default_programs_, arguments, begun));
}

Status KernelState::launch_planned(std::uint32_t lane, const LaunchOptions& options,
                                   const Shape& shape, const Configuration& configuration,
                                   const trial::StepPrograms& programs, Argument* arguments,
                                   bool& begun) const {
  Variant variant;
  // Whoever gave them keeps them while the lane is held.
  variant.programs = SharedPrograms(SharedPrograms(), &programs);
  Status status = plan_variant(shape, configuration, variant);
  if (status.ok() && !variant.simple) {
    status = take_scratch(shape, variant, VariantScratch::kAlways);
  }
  if (status.ok()) status = complete_arguments(shape, variant, arguments);
  if (!status.ok()) return status;
  return enqueue_variant(lane, variant, 0, arguments, options, nullptr, begun);
}

}  // namespace idletune::detail
