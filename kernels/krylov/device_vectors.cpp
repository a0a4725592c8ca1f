#include "kernels/krylov/device_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace idletune::krylov {
namespace {

constexpr std::int32_t kGroup = 64;          // work items of a group, of each kernel here
constexpr std::size_t kStepNumbers = 8;      // of a work item (vectors/cg_step.cl)
constexpr std::size_t kNumbersAtOnce = 4;    // of a work item (vectors/dots.cl, combine.cl)
constexpr std::size_t kShortestPart = 4096;  // of an inner product: less is not worth a group
constexpr std::size_t kMostParts = 1024;     // which the host adds up
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

Argument number(std::size_t value) { return static_cast<std::int32_t>(value); }

}  // namespace

DeviceVectors::DeviceVectors(DeviceKernels& kernels, ApplicationQueue& queue, std::size_t length)
    : kernels_(kernels), queue_(queue), length_(length) {}

void DeviceVectors::fail(const Status& status) {
  if (!status.ok() && status_.ok()) status_ = status;
}

std::unique_ptr<Buffer> DeviceVectors::allocate() {
  if (!status_.ok()) return nullptr;
  auto buffer = queue_.allocate(bytes());
  if (buffer.ok()) return std::move(*buffer);
  fail(buffer.status());
  return nullptr;
}

bool DeviceVectors::stage(std::size_t numbers) {
  if (!status_.ok()) return false;
  if (staged_ >= numbers) return true;
  staging_.reset(new (std::nothrow) double[numbers]);
  staged_ = staging_ ? numbers : 0;
  if (!staging_) {
    fail({StatusCode::out_of_memory, "% bytes of host memory", sizeof(double) * numbers});
  }
  return status_.ok();
}

void DeviceVectors::write_staged(Buffer& to) {
  fail(queue_.write(to, 0, {reinterpret_cast<const std::uint8_t*>(staging_.get()), bytes()}));
  fail(queue_.wait());
}

void DeviceVectors::read_staged(const Buffer& from, std::size_t numbers) {
  if (!stage(numbers)) return;
  auto* const to = reinterpret_cast<std::uint8_t*>(staging_.get());
  fail(queue_.read(from, 0, {to, numbers * kernels_.number_bytes()}));
}

void DeviceVectors::put(Span<const double> values, Buffer& to, const PowerOfTwo& scale) {
  if (!stage(length_)) return;
  auto* const numbers = reinterpret_cast<float*>(staging_.get());
  for (std::size_t i = 0; i < length_; ++i) {
    const double value = scale.times(values[i]);
    if (kernels_.number_bytes() == sizeof(double)) {
      staging_[i] = value;
    } else {
      numbers[i] = static_cast<float>(value);
    }
  }
  write_staged(to);
}

void DeviceVectors::clear(Buffer& to) {
  if (!stage(length_)) return;
  std::fill_n(staging_.get(), length_, 0.0);
  write_staged(to);
}

void DeviceVectors::get(const Buffer& from, Span<double> values, const PowerOfTwo& scale) {
  read_staged(from, length_);
  if (!status_.ok()) return;
  for (std::size_t i = 0; i < length_; ++i) values[i] = scale.times(staged(i));
}

void DeviceVectors::copy(const Buffer& from, Buffer& to) {
  if (status_.ok()) fail(queue_.copy(from, 0, to, 0, bytes()));
}

Argument DeviceVectors::real(double value) const {
  if (kernels_.number_bytes() == sizeof(double)) return value;
  return static_cast<float>(value);
}

void DeviceVectors::launch(Operation operation, std::size_t items, Span<const Argument> arguments,
                           std::int32_t fused, std::size_t times) {
  if (!status_.ok()) return;
  const auto program = kernels_.get(operation, {0, kGroup, fused});
  if (!program.ok()) return fail(program.status());
  Range range = range_of(items, kGroup);
  if (times > 1) range.dimensions = 2, range.global[1] = times;
  fail((*program)->enqueue(0, range, arguments, {}, nullptr));
}

void DeviceVectors::scale(double a, Buffer& y) { add_block(y, {}, a, y); }

void DeviceVectors::axpby(double a, const Buffer& x, double b, Buffer& y) {
  add_block(x, {&a, 1}, b, y);
}

void DeviceVectors::pointwise(const Buffer& d, const Buffer& x, Buffer& z) {
  const Argument arguments[] = {number(length_), d.argument(), x.argument(), z.argument()};
  launch(Operation::pointwise, length_, arguments);
}

void DeviceVectors::keep(const Buffer& from, Kept& to, std::size_t place) {
  const std::size_t vector_bytes = stride() * kernels_.number_bytes();
  if (to.size() == place / kBlock && status_.ok()) {
    auto block = queue_.allocate(kBlock * vector_bytes);
    if (!block.ok()) return fail(block.status());
    to.push_back(std::move(*block));
  }
  if (!status_.ok()) return;
  fail(queue_.copy(from, 0, *to[place / kBlock], place % kBlock * vector_bytes, bytes()));
}

void DeviceVectors::add_block(const Buffer& block, Span<const double> factors, double own,
                              Buffer& w) {
  Argument arguments[4 + kBlock + 2] = {number(length_), number(factors.size()), number(stride()),
                                        real(own)};
  for (std::size_t k = 0; k < kBlock; ++k)
    arguments[4 + k] = real(k < factors.size() ? factors[k] : 0);
  arguments[4 + kBlock] = block.argument();
  arguments[5 + kBlock] = w.argument();
  launch(Operation::combine, (length_ + kNumbersAtOnce - 1) / kNumbersAtOnce, arguments);
}

void DeviceVectors::combine(const Kept& vectors, Span<const double> factors, double own,
                            Buffer& w) {
  for (std::size_t begin = 0; begin < factors.size() && status_.ok(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, factors.size() - begin);
    add_block(*vectors[begin / kBlock], {factors.data() + begin, count}, begin == 0 ? own : 1, w);
  }
}

std::size_t DeviceVectors::slice() const {
  constexpr std::size_t kStep = kNumbersAtOnce * kGroup;
  return (std::max(kShortestPart, length_ / kMostParts + 1) + kStep - 1) / kStep * kStep;
}

bool DeviceVectors::make_room(std::size_t products) {
  if (!status_.ok()) return false;
  const std::size_t wanted = products * parts() * kernels_.number_bytes();
  if (parts_ && parts_->size_bytes() >= wanted) return true;
  auto buffer = queue_.allocate(wanted);
  fail(buffer.status());
  if (buffer.ok()) parts_ = std::move(*buffer);
  return status_.ok();
}

void DeviceVectors::launch_dots(const Buffer& block, std::size_t count, std::size_t products,
                                const Buffer& y, std::size_t before) {
  const Argument arguments[] = {number(length_),          number(slice()),   number(count),
                                number(stride()),         block.argument(),  y.argument(),
                                number(before * parts()), parts_->argument()};
  launch(Operation::dots, parts() * kGroup, arguments, 0, products);
}

void DeviceVectors::add_up(Span<double> sums) {
  read_staged(*parts_, sums.size() * parts());
  if (!status_.ok()) return;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sums[k] = 0;
    for (std::size_t i = 0; i < parts(); ++i) sums[k] += staged(k * parts() + i);
  }
}

double DeviceVectors::dot(const Buffer& x, const Buffer& y) {
  double sum = 0;
  dots(x, y, {&sum, 1});
  return sum;
}

void DeviceVectors::dots(const Buffer& x, const Buffer& y, Span<double> sums) {
  std::fill(sums.begin(), sums.end(), kNoNumber);
  if (!make_room(sums.size())) return;
  launch_dots(x, 1, sums.size(), y, 0);
  add_up(sums);
}

void DeviceVectors::dots(const Kept& vectors, const Buffer& w, Span<double> sums) {
  std::fill(sums.begin(), sums.end(), kNoNumber);
  if (!make_room(sums.size())) return;
  const std::size_t all = sums.size() - 1;
  for (std::size_t begin = 0; begin < all && status_.ok(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, all - begin);
    launch_dots(*vectors[begin / kBlock], count, count + (begin + count == all ? 1 : 0), w, begin);
  }
  add_up(sums);
}

bool DeviceVectors::holds(double value) const {
  return kernels_.number_bytes() == sizeof(double) ? std::isfinite(value)
                                                   : std::isfinite(static_cast<float>(value));
}

std::size_t DeviceVectors::step_parts() const {
  return (length_ + kStepNumbers * kGroup - 1) / (kStepNumbers * kGroup);
}

bool DeviceVectors::has_cg_step(const Buffer* diagonal) {
  return kernels_.get(Operation::cg_step, {0, kGroup, diagonal != nullptr ? 2 : 1}).ok();
}

void DeviceVectors::cg_step(double alpha, double beta, const Buffer* diagonal, const Buffer& q,
                            Buffer& x, Buffer& r, Buffer& p, Buffer& parts) {
  const Argument arguments[] = {
      number(length_), real(alpha),  real(beta),   (diagonal != nullptr ? *diagonal : q).argument(),
      q.argument(),    x.argument(), r.argument(), p.argument(),
      parts.argument()};
  launch(Operation::cg_step, step_parts() * kGroup, arguments, diagonal != nullptr ? 2 : 1);
}

std::unique_ptr<Buffer> DeviceVectors::allocate_pairs(std::size_t count) {
  if (!status_.ok()) return nullptr;
  auto buffer = queue_.allocate(2 * count * kernels_.number_bytes());
  return buffer.ok() ? std::move(*buffer) : nullptr;
}

void DeviceVectors::add_pairs(const Buffer& pairs, std::size_t first, std::size_t second,
                              double (&sums)[4]) {
  std::fill(std::begin(sums), std::end(sums), kNoNumber);
  const std::size_t count = 2 * (first + second);
  read_staged(pairs, count);
  if (!status_.ok()) return;
  std::fill(std::begin(sums), std::end(sums), 0.0);
  for (std::size_t i = 0; i < count; ++i) sums[(i < 2 * first ? 0 : 2) + i % 2] += staged(i);
}

}  // namespace idletune::krylov
