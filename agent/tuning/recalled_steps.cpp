// What earlier sessions adopted.
#include <utility>

#include "agent/tuning/steps.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

// Adoptions built at start-up, per kernel.
constexpr std::size_t kMaxPublishedAtStart = 16;

}  // namespace

bool Steps::recall_one() {
  for (const std::unique_ptr<KernelTask>& kernel : kernels_) {
    for (const std::unique_ptr<ShapeTask>& task : kernel->shapes) {
      if (!task->recalled || task->work.is(Work::installing) || task->race != nullptr) continue;
      // It does not wait for a trial whose next stage may never find a gap.
      if (!task->work.is(Work::resting) && !shelve(*task)) continue;
      install(*task, *std::exchange(task->recalled, std::nullopt));
      return true;
    }
  }
  return false;
}

void Steps::publish_recalled(ShapeTask& task) {
  if (!task.recalled || !task.work.is(Work::resting)) return;
  release_device();
  const Configuration& known = task.recalled->configuration;
  if (!facts_.may(task.facts(), known, task.slot.shape, Where::here)) return;
  // Where too much is exposed the trace alone speaks.
  if (expose(task, known) == 0 && surroundings_.trace == nullptr) return;
  (void)journal_.sync();
  Build build{&task, *std::exchange(task.recalled, std::nullopt)};
  build.handed = core_.hand_over(task.trial(build.install.configuration), Where::here);
  flight_.build_for_launches(build);
  accounts_.build_ended(build.processor);
  build_ended(build);
}

void Steps::launch_ahead(ShapeTask& task) {
  // Without a time nobody knows yet that it runs on data of ours without harm.
  if (task.launched_ahead == &task.variants.running() || task.default_time.count() == 0) return;
  release_device();  // a build that ends meanwhile replaces what runs
  const Variant& running = task.variants.running();
  HandedOver handed;
  if (task.variants.adopted() != nullptr) {
    handed = core_.hand_over(task.trial(running.configuration), Where::launches);
  }
  const Status launched = flight_.launch_once(task.kernel, *running.programs, task.slot.shape,
                                              running.configuration, options_.scratch_limit_bytes);
  task.launched_ahead = &running;
  if (task.variants.adopted() != nullptr && launched.code() == StatusCode::timeout) {
    facts_.died({task.trial(running.configuration), Where::here}, journal::Ending::hung,
                launched.message());
  }
}

// Those of the last sessions, and what the journal says of them. How many were launched.
std::size_t Steps::publish_adopted(KernelTask& kernel, Nanoseconds& left) {
  const DeviceInfo& device = kernel.state->device().info();
  std::vector<journal::Adoption> adoptions;
  journal_.state().for_each_adoption([&](const journal::Adoption& adoption) {
    if (adoption.trial.kernel == kernel.state->package().digest() &&
        adoption.trial.device == device.device_key() &&
        adoption.trial.shape_key().driver ==
            (device.driver_key() ^
             knowledge_.captured_digest(*kernel.state, adoption.trial.shape))) {
      adoptions.push_back(adoption);
    }
  });
  if (adoptions.size() > kMaxPublishedAtStart) adoptions.resize(kMaxPublishedAtStart);
  std::size_t launched = 0;
  for (const journal::Adoption& adoption : adoptions) {
    const Result<SlotRef> slot = kernel.state->slot_for(TunerLock::held(), adoption.trial.shape);
    ShapeTask* task = slot.ok() && *slot ? shapes_.shape_task(kernel, **slot) : nullptr;
    if (task == nullptr) continue;
    publish_recalled(*task);
    if (left.count() <= 0) continue;
    const Nanoseconds before = now();
    launch_ahead(*task);
    left -= now() - before;
    ++launched;
  }
  return launched;
}

}  // namespace idletune::detail
