// Launches of shapes that have no variant of their own.
#include "agent/launch/kernel_state.hpp"

#include <utility>

#include "agent/trial/tuning_data.hpp"

namespace idletune::detail {
namespace {

const Configuration kNoParameters;  // of packages that know theirs

}  // namespace

void KernelState::offer_for_classes(std::vector<ClassVariant> variants) {
  offers_.push_back(
      std::make_unique<const ClassVariants>(++offer_count_, *package_, std::move(variants)));
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
  const ClassVariant* found = offer->choose(slot.shape);
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
    if (const ClassVariant* found = offer->choose(shape)) {
      Status status = launch_planned(lane, options, shape,
                                     {*found->package, found->configuration, *found->programs},
                                     arguments, begun);
      if (status.ok()) class_.fetch_add(1, std::memory_order_relaxed);
      if (!status.ok()) offer->refused(*found);
      if (status.ok() || begun) return status;
    }
  }
  Status status = launch_planned(
      lane, options, shape,
      {*default_package_, package_->default_configuration(), *default_programs_}, arguments, begun);
  return status.ok() ? status : unless_no_work(shape, std::move(status));
}

Status KernelState::launch_planned(std::uint32_t lane, const LaunchOptions& options,
                                   const Shape& shape, const Planned& planned, Argument* arguments,
                                   bool& begun) const {
  const KernelPackage& package = planned.package;
  LaunchPlan plan;
  Sizes sizes;
  Status status = package.plan(shape, kNoParameters, plan);
  if (status.ok()) status = package.sizes(shape, kNoParameters, sizes);
  if (status.ok()) status = check_given(sizes, arguments);
  bool own = !plan.setup().empty();
  for (std::size_t i = 0; i < derived_count_ && status.ok(); ++i) {
    const std::size_t index = derived_[i];
    if (is_own_memory(package.argument(index).kind)) {
      own = own || plan.all().size() > 1;  // one step alone hands nothing on
    } else if (!trial::derived_from(package.argument(index), sizes[index], arguments[index])) {
      status = package.derived_value(index, shape, kNoParameters).status();
    }
  }
  if (!status.ok()) return status;
  if (own) return launch_once(lane, options, shape, planned, arguments, begun);
  if (plan.first().spec.takes_all(argument_count_) && plan.all().size() == 1) {
    return planned.programs.front()->enqueue(lane, plan.first().range, {arguments, argument_count_},
                                             options, nullptr);
  }
  return enqueue_steps(lane, planned.programs, plan.steps(), arguments, options, nullptr, begun);
}

// With device memory of its own for this launch.
Status KernelState::launch_once(std::uint32_t lane, const LaunchOptions& options,
                                const Shape& shape, const Planned& planned, Argument* arguments,
                                bool& begun) const {
  Variant variant;
  // Whoever gave them keeps them while the lane is held.
  variant.programs = SharedPrograms(SharedPrograms(), &planned.programs);
  Status status = plan_variant(shape, planned.configuration, variant);
  if (status.ok()) status = take_scratch(shape, variant, VariantScratch::kAlways);
  if (status.ok()) status = complete_arguments(shape, variant, arguments);
  if (!status.ok()) return status;
  return enqueue_variant(lane, variant, 0, arguments, options, nullptr, begun);
}

}  // namespace idletune::detail
