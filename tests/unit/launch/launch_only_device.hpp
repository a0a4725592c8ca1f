// A device without memory and trials: for tests of launches, which say what its programs do.
#pragma once

#include <cstddef>
#include <memory>

#include "agent/launch/kernel_state.hpp"

namespace idletune::test {

class LaunchOnlyDevice : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t) override {
    return Status(StatusCode::unsupported, "no memory here");
  }
  Status write(Buffer&, std::size_t, Bytes) override { return {}; }
  Status read(const Buffer&, std::size_t, MutableBytes) override { return {}; }
  Result<RunTimes> run(Program&, const Range&, Span<const Argument>, Nanoseconds) override {
    return Status(StatusCode::unsupported, "no trials here");
  }
  Nanoseconds now() const override { return Nanoseconds(0); }

 protected:
  DeviceInfo info_;
};

// A program of it, for the lanes of a KernelState.
class LaunchOnlyProgram : public Program {
 public:
  std::uint32_t lanes() const override { return detail::KernelState::kLanes; }
  std::uint64_t max_work_group_size() const override { return 1024; }
  std::uint64_t local_memory_bytes() const override { return 0; }
};

}  // namespace idletune::test
