// Lending the tuner real data.
#include <idletune/text.hpp>

#include "agent/src/agent_state.hpp"
#include "platform/os/storage.hpp"

namespace idletune::detail {

Status AgentState::capture(KernelState& kernel, const Shape& shape,
                           Span<const Argument> arguments) {
  if (options_.state.empty() || options_.mode != Mode::tune) {
    return Status(StatusCode::unsupported,
                  {"kernel '", kernel.name(),
                   "': captured arguments need a state folder and the mode 'tune'"});
  }
  const Result<ShapeSlot*> slot = kernel.slot_for(shape);
  if (!slot.ok()) return slot.status();
  const Nanoseconds start = surroundings_.clock->now();
  const Result<CapturedArguments> made =
      kernel.capture(shape, arguments, options_.capture_limit_bytes);
  const Nanoseconds copied = surroundings_.clock->now();
  if (!made.ok()) return made.status();
  std::string path;
  {
    const MutexLock lock(mutex_);
    path = engine_->capture_path(kernel, shape);
  }
  std::uint8_t beginning[CapturedArguments::kBeginningBytes];
  const bool known =
      read_beginning(path, beginning) && CapturedArguments::digest_in(beginning) == made->digest();
  if (!known) {
    // The folder is made where it is missing.
    const auto folder = open_posix_storage(joined({options_.state, "/captures"}));
    if (!folder.ok()) return folder.status();
    if (Status status = write_file_atomically(path, made->bytes()); !status.ok()) return status;
  }
  const Nanoseconds took = copied - start;
  const MutexLock lock(mutex_);
  KernelTask* task = engine_->task_of(kernel);
  ShapeTask* shape_task = task != nullptr ? engine_->shape_task(*task, **slot) : nullptr;
  if (shape_task == nullptr) return Status(StatusCode::internal, "capture: the shape has no task");
  engine_->capture_taken(*shape_task, made->digest(), took + (surroundings_.clock->now() - copied));
  return {};
}

}  // namespace idletune::detail
