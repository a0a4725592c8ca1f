// Vectors of one length on a device, and what is computed with them. After an error nothing more is
// done, inner products are NaN, and status() tells the first one: to be asked once per iteration.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <idletune/application_queue.hpp>

#include "kernels/krylov/device_kernels.hpp"
#include "kernels/krylov/power_of_two.hpp"

namespace idletune::krylov {

class DeviceVectors {
 public:
  DeviceVectors(DeviceKernels& kernels, ApplicationQueue& queue, std::size_t length);
  const Status& status() const { return status_; }
  void fail(const Status& status);
  void forget_failure() { status_ = Status(); }

  std::unique_ptr<Buffer> allocate();  // null after an error
  // `scale` times these, there and back.
  void put(Span<const double> values, Buffer& to, const PowerOfTwo& scale = PowerOfTwo());
  void get(const Buffer& from, Span<double> values, const PowerOfTwo& scale = PowerOfTwo());
  void clear(Buffer& to);
  void copy(const Buffer& from, Buffer& to);
  void scale(double a, Buffer& y);                              // y = a y
  void axpby(double a, const Buffer& x, double b, Buffer& y);   // y = a x + b y
  void pointwise(const Buffer& d, const Buffer& x, Buffer& z);  // z = d x
  double dot(const Buffer& x, const Buffer& y);                 // waits
  // x . y and, where `sums` has two, y . y; waits.
  void dots(const Buffer& x, const Buffer& y, Span<double> sums);

  // Vectors that are kept, kBlock in a buffer.
  using Kept = std::vector<std::unique_ptr<Buffer>>;
  void keep(const Buffer& from, Kept& to, std::size_t place);
  // Of w with each of the first sums.size() - 1, then with itself; waits once.
  void dots(const Kept& vectors, const Buffer& w, Span<double> sums);
  // w = own w + the sum of factors[k] times the k-th.
  void combine(const Kept& vectors, Span<const double> factors, double own, Buffer& w);
  // vectors/cg_step.cl; `diagonal` may be null. Its sums are in the first step_parts() pairs.
  bool has_cg_step(const Buffer* diagonal);
  void cg_step(double alpha, double beta, const Buffer* diagonal, const Buffer& q, Buffer& x,
               Buffer& r, Buffer& p, Buffer& parts);
  std::size_t step_parts() const;
  // Null without memory, which is no error here.
  std::unique_ptr<Buffer> allocate_pairs(std::size_t count);
  // Of the pairs [0, first) and [first, first + second) the sums; waits.
  void add_pairs(const Buffer& pairs, std::size_t first, std::size_t second, double (&sums)[4]);
  // Whether a number is finite in this precision, and how much rounding may change it, as a share.
  bool holds(double value) const;
  double roundoff() const { return kernels_.number_bytes() == sizeof(double) ? 0x1p-53 : 0x1p-24; }
  const Device& device() const { return kernels_.device(); }

 private:
  static constexpr std::size_t kBlock = 8;  // vectors/combine.cl
  std::size_t stride() const { return (length_ + 15) / 16 * 16; }
  void launch(Operation operation, std::size_t items, Span<const Argument> arguments,
              std::int32_t fused = 0, std::size_t times = 1);
  // Of y with the first `count` of a block, then with itself, `products` in all.
  void launch_dots(const Buffer& block, std::size_t count, std::size_t products, const Buffer& y,
                   std::size_t before);
  void add_up(Span<double> sums);  // of each product the parts; waits
  std::size_t slice() const;       // numbers of a part
  std::size_t parts() const { return (length_ + slice() - 1) / slice(); }
  bool make_room(std::size_t products);
  void add_block(const Buffer& block, Span<const double> factors, double own, Buffer& w);
  Argument real(double value) const;
  bool stage(std::size_t numbers);  // room for so many in staging_
  double staged(std::size_t i) const {
    if (kernels_.number_bytes() == sizeof(double)) return staging_[i];
    return static_cast<double>(reinterpret_cast<const float*>(staging_.get())[i]);
  }
  void write_staged(Buffer& to);
  void read_staged(const Buffer& from, std::size_t numbers);  // waits
  std::size_t bytes() const { return length_ * kernels_.number_bytes(); }

  DeviceKernels& kernels_;
  ApplicationQueue& queue_;
  std::size_t length_;
  std::unique_ptr<Buffer> parts_;
  std::unique_ptr<double[]> staging_;  // numbers of either precision on their way
  std::size_t staged_ = 0;             // it has room for
  Status status_;
};

}  // namespace idletune::krylov
