// Lending the tuner real data.
#include <idletune/text.hpp>

#include "agent/api/agent_state.hpp"
#include "platform/os/storage.hpp"

namespace idletune::detail {

Status AgentState::capture(KernelState& kernel, const Shape& shape,
                           Span<const Argument> arguments) {
  if (options_.state.empty() || options_.mode != Mode::tune) {
    return Status(StatusCode::unsupported,
                  "kernel '%': captured arguments need a state folder and the mode 'tune'",
                  kernel.name());
  }
  {
    const MutexLock lock(mutex_);
    if (!journal_->storage_status().ok()) return journal_->storage_status();
    const Result<SlotRef> slot = slot_for(TunerLock(lock), kernel, shape);
    if (!slot.ok()) return slot.status();
  }
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
  const bool known = read_state_file(surroundings_, path, beginning) &&
                     CapturedArguments::digest_in(beginning) == made->digest();
  if (!known) {
    // The folder is made where it is missing.
    Status written;
    if (surroundings_.played == nullptr) {
      written = open_posix_storage(joined("%/captures", options_.state)).status();
    }
    if (written.ok()) {
      written = write_state_file(surroundings_, path, made->bytes(), FileSync::yes);
    }
    if (!written.ok()) return written;
  }
  const Nanoseconds took = copied - start;
  // Its slot may have been given back meanwhile.
  const MutexLock lock(mutex_);
  const Result<ShapeTask*> task = shape_task(TunerLock(lock), kernel, shape);
  if (!task.ok()) return task.status();
  engine_->capture_taken(**task, made->digest(), took + (surroundings_.clock->now() - copied));
  return {};
}

}  // namespace idletune::detail
