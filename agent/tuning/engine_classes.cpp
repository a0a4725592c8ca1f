// What is known of one shape and counts for others, and slots that come back.
#include <utility>

#include "agent/tuning/tuning_engine.hpp"
#include "models/core/digest.hpp"
#include "models/core/lists.hpp"

namespace idletune::detail {
namespace {

constexpr std::size_t kMaxChecked = 4096;
constexpr Nanoseconds kBetweenLooks = std::chrono::seconds(1);
constexpr std::uint32_t kUnusedLooks = 2;  // in a row, until a slot may go

}  // namespace

CheckedClass::CheckedClass(const KernelPackage& package, const Configuration& values,
                           const Shape& shape, bool passed)
    : configuration(digest_of(values)), key(package.class_key(shape, values)), right(passed) {}

const CheckedClass* KernelTask::known(const CheckedClass& wanted) const {
  for (const CheckedClass& one : checked_classes) {
    if (one.key == wanted.key && one.configuration == wanted.configuration) return &one;
  }
  return nullptr;
}

// The configuration passed both checks at the shape, or failed one.
void TuningEngine::note_check(KernelTask& kernel, const Configuration& configuration,
                              const Shape& shape, bool right) {
  if (kernel.classes_fail || !kernel.state->package().has_classes()) return;
  const CheckedClass checked(kernel.state->package(), configuration, shape, right);
  if (const CheckedClass* known = kernel.known(checked)) {
    if (known->right != right) refute_classes(kernel);
    return;
  }
  if (kernel.checked_classes.size() >= kMaxChecked) return;
  kernel.checked_classes.push_back(checked);
  if (right) offer_for_classes(kernel);
}

// Right at one shape and wrong at another: what the class rests on does not hold for this kernel,
// so none of its classes counts.
void TuningEngine::refute_classes(KernelTask& kernel) {
  log(1, {kernel.state->name(),
          ": a configuration is right for some shapes of a class and wrong for others: its package "
          "says too little of its classes, and none counts any more"});
  kernel.classes_fail = true;
  kernel.checked_classes.clear();
  offer_for_classes(kernel);
  for (const std::unique_ptr<ShapeTask>& task : kernel.shapes) {
    if (task->runs_for_class()) task->variants.publish(nullptr);
  }
}

void TuningEngine::offer_for_classes(KernelTask& kernel) {
  std::vector<ClassVariant> variants(ClassVariants::kMax);
  std::size_t count = 0;
  for (const std::unique_ptr<ShapeTask>& task : kernel.shapes) {
    const Variant* adopted = task->variants.adopted();
    // What is prepared is its shape's own.
    if (adopted == nullptr || !adopted->plan.setup().empty()) continue;
    ClassVariant& variant = variants[count];
    const std::uint64_t configuration = digest_of(adopted->configuration);
    for (const CheckedClass& known : kernel.checked_classes) {
      if (known.right && known.configuration == configuration) push(variant.classes, known.key);
    }
    if (variant.classes.empty()) continue;
    variant.programs = adopted->programs;
    variant.configuration = adopted->configuration;
    variant.adopted_at = task->slot.shape;
    if (adopted->scratch != nullptr) kernel.state->expect_scratch(*adopted->scratch);
    if (++count == variants.size()) break;
  }
  while (variants.size() > count) variants.pop_back();
  kernel.state->offer_for_classes(std::move(variants));
}

// Slots of shapes that are not launched any more, where others found none.
void TuningEngine::recycle(KernelTask& kernel) {
  KernelState& state = *kernel.state;
  state.reclaim();
  if (!kernel.leaving.empty()) {
    if (!kernel.since_leaving->reached(state.lanes())) return;
    for (ShapeSlot* slot : kernel.leaving) {
      state.discard_tickets(*slot);
      state.table().give_back(*slot);
    }
    kernel.leaving.clear();
    return;
  }
  const std::uint64_t unslotted = state.unslotted_launches();
  if (!state.table().full() || unslotted == kernel.unslotted_looked_at) return;
  if (now() - kernel.looked_for_unused < kBetweenLooks) return;
  kernel.looked_for_unused = now();
  kernel.unslotted_looked_at = unslotted;
  for (std::size_t i = kernel.shapes.size(); i-- > 0;) {
    ShapeTask& task = *kernel.shapes[i];
    const bool used = task.launches() != task.launches_looked_at;
    task.launches_looked_at = task.launches();
    task.unused_looks = used ? 0 : task.unused_looks + 1;
    if (task.unused_looks < kUnusedLooks || !may_leave(task)) continue;
    note_shape(task, now());
    if (favourite_ == &task) favourite_ = nullptr;
    leave(kernel, task.slot);
    kernel.shapes.erase(kernel.shapes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Nothing that was found for it is in use, and nothing is under way.
bool TuningEngine::may_leave(const ShapeTask& task) const {
  const bool held = &task == current_ || (in_flight_ && &in_flight_->task() == &task) ||
                    (build_ && build_->task == &task);
  return !held && is<Resting>(task.work) && task.race == nullptr && !task.recalled &&
         task.said_launches < 0 && task.variants.adopted() == nullptr &&
         !task.variants.has_retired();
}

void TuningEngine::leave(KernelTask& kernel, ShapeSlot& slot) {
  kernel.state->table().unlist(slot);
  kernel.leaving.push_back(&slot);
  kernel.since_leaving.emplace(kernel.state->lanes());
}

}  // namespace idletune::detail
