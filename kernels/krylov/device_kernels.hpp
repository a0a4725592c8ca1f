// The kernels on a device: compiled when they are first wanted, then kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/krylov.hpp>

#include "kernels/krylov/kernel_sources.hpp"

namespace idletune::krylov {

// What is tuned of an operation.
struct KernelVariant {
  // Of products, 0: a work item of each row, 1: a group, more: so many items.
  std::int32_t kind = 0;
  std::int32_t work_group = 64;
  std::int32_t fused = 0;  // CG_SUMS: of products and CG's steps
  std::int32_t lanes() const { return kind > 1 ? kind : 1; }
};
inline bool same(const KernelVariant& a, const KernelVariant& b) {
  return a.kind == b.kind && a.work_group == b.work_group && a.fused == b.fused;
}

class DeviceKernels {
 public:
  DeviceKernels(Device& device, Precision precision) : device_(device), precision_(precision) {}
  Device& device() const { return device_; }
  std::size_t number_bytes() const { return precision_ == Precision::f64 ? 8 : 4; }
  // The program stays this object's. Errors: those of Device::compile; unsupported where the work
  // group is too large for it.
  Result<Program*> get(Operation operation, KernelVariant variant);
  double compile_seconds() const { return compile_seconds_; }  // of all so far

 private:
  struct Kept {
    Operation operation;
    KernelVariant variant;
    std::unique_ptr<Program> program;
  };

  Device& device_;
  Precision precision_;
  std::vector<Kept> kept_;
  double compile_seconds_ = 0;
};

// Work items of one axis, in whole groups.
Range range_of(std::size_t items, std::int32_t work_group);

}  // namespace idletune::krylov
