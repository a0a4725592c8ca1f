// A device that runs only the groups at the corners and in the middle of a launch, on memory that
// is reserved and not there: sizes beyond any machine cost nothing. Kernels are compiled for the
// host by this machine's C++ compiler; a group's work items run one after another to their ends, so
// results mean nothing. An access outside all buffers ends the run with an error that says where:
// terabytes of nothing lie around each buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <idletune/device.hpp>

namespace idletune::test {

inline constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 4096;  // that is not refused
inline constexpr std::int64_t kBeyond = (std::int64_t{1} << 31) + 1;

// Of a device of "opencl" or "cuda": what a launch may be at most; memory is not limited.
inline DeviceInfo limits_of(const std::string& backend) {
  DeviceInfo info;
  info.backend = backend;
  info.local_memory_bytes = 48 << 10;
  info.max_work_group_size = 1024;
  info.max_work_item_sizes = {1024, 1024, 64};
  info.max_groups.fill(2147483647);
  if (backend == "cuda") info.max_groups = {2147483647, 65535, 65535};
  return info;
}

struct CornerOptions {
  std::uint32_t milliseconds = 100;  // of a launch; where its loops take longer, a timeout
  bool ends_only = false;            // the first item of the first group and the last of the last
};
std::unique_ptr<Device> open_corner_device(const DeviceInfo& info, CornerOptions options);

// Where the buffer lies; untouched memory reads as zero.
unsigned char* memory_of(const Argument& buffer);

}  // namespace idletune::test
