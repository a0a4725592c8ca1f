// A matrix on a device in one format, and products with it.
#pragma once

#include <memory>
#include <vector>

#include <idletune/application_queue.hpp>

#include "kernels/krylov/device_kernels.hpp"
#include "kernels/krylov/formats.hpp"
#include "kernels/krylov/power_of_two.hpp"

namespace idletune::krylov {

// What CG has computed with a product y = A x (spmv/row_lanes.cl): x . y and y . M y.
struct FusedProduct {
  const Buffer* diagonal = nullptr;  // M's; null: the unit matrix
  Buffer* parts = nullptr;           // a pair of numbers of each group, behind `first_part` pairs
  std::int32_t first_part = 0;
};

class DeviceMatrix {
 public:
  DeviceMatrix(ApplicationQueue& queue, StoredPattern stored, std::size_t number_bytes)
      : queue_(queue), stored_(std::move(stored)), number_bytes_(number_bytes) {}
  Operation operation() const { return static_cast<Operation>(stored_.format); }
  // Indices, and numbers that are `scale` times these; once. Waits until they are there, also after
  // an error. Errors: out_of_memory, device_error.
  Status upload(Span<const double> values, const PowerOfTwo& scale = PowerOfTwo());
  // New numbers; waits.
  Status upload_values(Span<const double> values, const PowerOfTwo& scale = PowerOfTwo());
  // Enqueues y = A x; `fused` may be null.
  Status multiply(DeviceKernels& kernels, KernelVariant variant, const Buffer& x, Buffer& y,
                  const FusedProduct* fused = nullptr);
  // Work groups of a product.
  std::size_t groups(const KernelVariant& variant) const;

 private:
  Status allocate(std::size_t bytes, std::unique_ptr<Buffer>& buffer);
  Status write(const std::vector<std::int32_t>& indices, Buffer& buffer);
  template <class T>
  Status put_values(Span<const double> values, const PowerOfTwo& scale);

  ApplicationQueue& queue_;
  StoredPattern stored_;     // once uploaded, without what the device has
  std::int32_t behind_ = 0;  // HYB: slots behind the regular ones
  std::size_t number_bytes_;
  std::unique_ptr<Buffer> row_start_, row_, column_, offset_, values_;
};

}  // namespace idletune::krylov
