// Vectors of one length on a device, and what is computed with them. After an error nothing more is
// done, inner products are NaN, and status() tells the first one: to be asked once per iteration.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <idletune/application_queue.hpp>

#include "kernels/krylov/device_kernels.hpp"

namespace idletune::krylov {

class DeviceVectors {
 public:
  DeviceVectors(DeviceKernels& kernels, ApplicationQueue& queue, std::size_t length);
  const Status& status() const { return status_; }
  void fail(const Status& status);
  void forget_failure() { status_ = Status(); }

  std::unique_ptr<Buffer> allocate();  // null after an error
  void put(Span<const double> values, Buffer& to);
  void get(const Buffer& from, Span<double> values);
  void copy(const Buffer& from, Buffer& to);
  void axpby(double a, const Buffer& x, double b, Buffer& y);   // y = a x + b y
  void pointwise(const Buffer& d, const Buffer& x, Buffer& z);  // z = d x
  double dot(const Buffer& x, const Buffer& y);                 // waits
  // vectors/cg_step.cl; `diagonal` may be null. Its sums are in the first step_parts() pairs.
  void cg_step(double alpha, double beta, const Buffer* diagonal, const Buffer& q, Buffer& x,
               Buffer& r, Buffer& p, Buffer& parts);
  std::size_t step_parts() const;
  std::unique_ptr<Buffer> allocate_pairs(std::size_t count);  // null after an error
  // Of the pairs [0, first) and [first, first + second) the sums; waits.
  void add_pairs(const Buffer& pairs, std::size_t first, std::size_t second, double (&sums)[4]);
  // Whether a number is finite in this precision.
  bool holds(double value) const;
  std::size_t length() const { return length_; }

 private:
  void launch(Operation operation, KernelVariant variant, std::size_t items,
              Span<const Argument> arguments);
  Argument real(double value) const;
  std::size_t bytes() const { return length_ * kernels_.number_bytes(); }

  DeviceKernels& kernels_;
  ApplicationQueue& queue_;
  std::size_t length_;
  KernelVariant dot_{1, 64};
  KernelVariant axpby_{4, 64};
  std::unique_ptr<Buffer> parts_;
  std::vector<double> staging_;  // numbers of either precision on their way
  Status status_;
};

}  // namespace idletune::krylov
