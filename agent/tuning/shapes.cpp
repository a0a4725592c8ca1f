#include "agent/tuning/shapes.hpp"

#include <utility>

namespace idletune::detail {
namespace {

constexpr Nanoseconds kBetweenLooks = std::chrono::seconds(1);
constexpr std::uint32_t kUnusedLooks = 2;  // in a row, until a slot may go
constexpr std::uint32_t kSaidLooks = 300;  // the same where launches were said to come

}  // namespace

ShapeTask* Shapes::shape_task(KernelTask& kernel, ShapeSlot& slot) {
  for (const std::unique_ptr<ShapeTask>& task : kernel.shapes) {
    if (&task->slot == &slot) return task.get();
  }
  const LaunchTable& table = kernel.state->table();
  if (!table.find(TunerLock::held(), slot.shape, slot.hash).is(slot)) return nullptr;
  kernel.shapes.emplace_back(
      new ShapeTask(kernel, slot, knowledge_.subject_of(*kernel.state, slot)));
  ShapeTask& task = *kernel.shapes.back();
  knowledge_.load(task);
  return &task;
}

void Shapes::notice_new_shapes() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    LaunchTable& table = kernel->state->table();
    const std::size_t published = table.published();
    const bool more = kernel->slots_seen != published;
    kernel->slots_seen = published;
    for (std::size_t i = 0; more && i < table.capacity(); ++i) {
      ShapeSlot* slot = table.at(i);
      if (slot == nullptr || slot->noticed) continue;
      slot->noticed = true;
      // Two threads launched the shape first: one slot is enough.
      if (shape_task(*kernel, *slot) == nullptr) leave(*kernel, *slot);
    }
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      const double said = task->slot.said_launches.exchange(-1, std::memory_order_relaxed);
      if (said < 0) continue;
      task->said_launches = said;
      task->said_at = 0;
    }
  }
}

// Slots of shapes that are not launched any more, where others found none.
void Shapes::recycle(KernelTask& kernel) {
  KernelState& state = *kernel.state;
  state.classes().reclaim();
  if (!kernel.leaving.empty()) {
    if (!kernel.since_leaving->reached(state.lanes())) return;
    for (ShapeSlot* slot : kernel.leaving) {
      slot->tickets.discard(state.device());
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
    const bool to_come = task.said_launches >= 0 && core_.expected_launches(task) > 0;
    if (task.unused_looks < (to_come ? kSaidLooks : kUnusedLooks)) continue;
    task.shelve_due = true;
    if (!may_leave(task)) continue;
    note_shape(task, now());
    if (core_.favourite_ == &task) core_.favourite_ = nullptr;
    leave(kernel, task.slot);
    kernel.shapes.erase(kernel.shapes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Nothing that was found for it is in use, and nothing is under way.
bool Shapes::may_leave(const ShapeTask& task) const {
  const bool held = &task == core_.current_ || flight_.holds(task);
  return !held && task.work.is(Work::resting) && task.race == nullptr && !task.recalled &&
         task.leases == 0 && task.variants.adopted() == nullptr && !task.variants.has_retired();
}

void Shapes::leave(KernelTask& kernel, ShapeSlot& slot) {
  kernel.state->table().unlist(slot);
  kernel.leaving.push_back(&slot);
  kernel.since_leaving.emplace(kernel.state->lanes());
}

// Other objects of the same kernel launch it, too.
void Shapes::note_shape(ShapeTask& task, Nanoseconds time) {
  const std::uint64_t launches = task.launches();
  const std::uint64_t fresh = launches - std::exchange(task.noted_launches, launches);
  if (fresh == 0) return;
  journal::ShapeStatistics statistics;
  statistics.kernel = task.identity.kernel ^ task.identity.device;
  statistics.shape = task.slot.shape;
  const auto known = journal_.state().shape_statistics(statistics.kernel, statistics.shape);
  statistics.launches = known ? known->launches + fresh : task.past_launches + launches;
  journal_.note_shape(statistics, time);
}

}  // namespace idletune::detail
