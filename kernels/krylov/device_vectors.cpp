#include "kernels/krylov/device_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace idletune::krylov {
namespace {

constexpr std::int32_t kPointwiseGroup = 64;
constexpr std::size_t kMostDotGroups = 1024;  // vectors/dot.cl, dot.xml
constexpr std::size_t kStepNumbers = 8;       // of a work item (vectors/cg_step.cl)
constexpr std::int32_t kStepGroup = 64;

std::size_t groups(std::size_t items, std::int32_t size) {
  const auto group = static_cast<std::size_t>(size);
  return (items + group - 1) / group;
}

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

void DeviceVectors::launch(Operation operation, KernelVariant variant, std::size_t items,
                           Span<const Argument> arguments) {
  if (!status_.ok()) return;
  const auto program = kernels_.get(operation, variant);
  if (!program.ok()) return fail(program.status());
  fail((*program)->enqueue(0, range_of(items, variant.work_group), arguments, {}, nullptr));
}

void DeviceVectors::axpby(double a, const Buffer& x, double b, Buffer& y) {
  const Argument arguments[] = {static_cast<std::int32_t>(length_), real(a), x.argument(), real(b),
                                y.argument()};
  launch(Operation::axpby, axpby_, groups(length_, axpby_.kind), arguments);
}

void DeviceVectors::pointwise(const Buffer& d, const Buffer& x, Buffer& z) {
  const Argument arguments[] = {static_cast<std::int32_t>(length_), d.argument(), x.argument(),
                                z.argument()};
  launch(Operation::pointwise, {0, kPointwiseGroup}, length_, arguments);
}

double DeviceVectors::dot(const Buffer& x, const Buffer& y) {
  if (!parts_) parts_ = allocate();
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  if (!status_.ok()) return no_number;
  const Argument arguments[] = {static_cast<std::int32_t>(length_), x.argument(), y.argument(),
                                parts_->argument()};
  std::size_t count = length_, items = length_;
  if (dot_.kind != 0) {
    count = std::min(groups(length_, dot_.work_group), kMostDotGroups);
    items = count * static_cast<std::size_t>(dot_.work_group);
  }
  launch(Operation::dot, dot_, items, arguments);
  read_staged(*parts_, count);
  if (!status_.ok()) return no_number;
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += staged(i);
  return sum;
}

bool DeviceVectors::holds(double value) const {
  return kernels_.number_bytes() == sizeof(double) ? std::isfinite(value)
                                                   : std::isfinite(static_cast<float>(value));
}

std::size_t DeviceVectors::step_parts() const {
  const auto group = static_cast<std::size_t>(kStepGroup);
  return (length_ + kStepNumbers * group - 1) / (kStepNumbers * group);
}

void DeviceVectors::cg_step(double alpha, double beta, const Buffer* diagonal, const Buffer& q,
                            Buffer& x, Buffer& r, Buffer& p, Buffer& parts) {
  const Argument arguments[] = {static_cast<std::int32_t>(length_),
                                real(alpha),
                                real(beta),
                                (diagonal != nullptr ? *diagonal : q).argument(),
                                q.argument(),
                                x.argument(),
                                r.argument(),
                                p.argument(),
                                parts.argument()};
  launch(Operation::cg_step, {0, kStepGroup, diagonal != nullptr ? 2 : 1},
         step_parts() * static_cast<std::size_t>(kStepGroup), arguments);
}

std::unique_ptr<Buffer> DeviceVectors::allocate_pairs(std::size_t count) {
  if (!status_.ok()) return nullptr;
  auto buffer = queue_.allocate(2 * count * kernels_.number_bytes());
  if (buffer.ok()) return std::move(*buffer);
  fail(buffer.status());
  return nullptr;
}

void DeviceVectors::add_pairs(const Buffer& pairs, std::size_t first, std::size_t second,
                              double (&sums)[4]) {
  std::fill(std::begin(sums), std::end(sums), std::numeric_limits<double>::quiet_NaN());
  const std::size_t count = 2 * (first + second);
  read_staged(pairs, count);
  if (!status_.ok()) return;
  std::fill(std::begin(sums), std::end(sums), 0.0);
  for (std::size_t i = 0; i < count; ++i) sums[(i < 2 * first ? 0 : 2) + i % 2] += staged(i);
}

}  // namespace idletune::krylov
