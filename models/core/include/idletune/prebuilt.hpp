// Kernels compiled ahead of time, for devices without a compiler.
#pragma once

#include <cstdint>

#include <idletune/span.hpp>

namespace idletune {

enum class BinaryFormat : std::uint8_t { opencl_binary = 0, ptx = 1, cubin = 2, spirv = 3 };

struct PrebuiltBinary {
  BinaryFormat format = BinaryFormat::opencl_binary;
  Bytes bytes;  // not owned
  // What it was made for. An OpenCL binary: DeviceInfo::driver_key, the one device and driver that
  // it is good for. A cubin: the compute capability, 10 * major + minor. PTX: the lowest one.
  std::uint64_t made_for = 0;
};

}  // namespace idletune
