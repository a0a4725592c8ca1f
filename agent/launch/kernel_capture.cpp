// What the application lends of a launch's data.
#include "agent/launch/kernel_state.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {

Result<CapturedArguments> KernelState::capture(const Shape& shape, Span<const Argument> arguments,
                                               std::uint64_t limit_bytes) const {
  std::array<Argument, kMaxArguments> all;
  if (Status status = arguments_.take(arguments, all.data()); !status.ok()) return status;
  Result<CapturedArguments> made = CapturedArguments::make(*package_, shape, limit_bytes);
  if (!made.ok()) return made;
  std::size_t next = 0;
  for (std::size_t i = 0; i < package_->argument_count(); ++i) {
    if (!package_->argument(i).captured) continue;
    const MutableBytes data = made->writable(next++);
    Status status = device_.check_buffer(all[i], data.size());
    if (!status.ok()) return arguments_.refused(i, status.message());
    status = device_.copy_out(all[i], data);
    if (!status.ok()) return status;
  }
  made->seal();
  if (Status status = made->check(*package_); !status.ok()) {
    return Status(status.code(), "kernel '%': %", name_, status.message());
  }
  return made;
}

}  // namespace idletune::detail
