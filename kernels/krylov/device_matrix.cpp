#include "kernels/krylov/device_matrix.hpp"

#include <algorithm>

namespace idletune::krylov {
namespace {

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

Status DeviceMatrix::allocate(std::size_t bytes, std::unique_ptr<Buffer>& buffer) {
  auto allocated = queue_.allocate(std::max<std::size_t>(bytes, sizeof(double)));
  if (!allocated.ok()) return allocated.status();
  buffer = std::move(*allocated);
  return {};
}

Status DeviceMatrix::write(const std::vector<std::int32_t>& indices, Buffer& buffer) {
  return indices.empty() ? Status() : queue_.write(buffer, 0, bytes_of(indices));
}

template <class T>
Status DeviceMatrix::put_values(Span<const double> values, const PowerOfTwo& scale) {
  if (stored_.slots == 0) return {};
  std::vector<T> numbers(values.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    numbers[k] = static_cast<T>(scale.times(values[k]));
  std::vector<T> slots;
  if (!stored_.slot.empty()) {
    slots.resize(static_cast<std::size_t>(stored_.slots));
    scatter<T>(stored_, numbers, slots);
  }
  const Status status = queue_.write(*values_, 0, bytes_of(slots.empty() ? numbers : slots));
  const Status done = queue_.wait();
  return status.ok() ? done : status;
}

Status DeviceMatrix::upload_values(Span<const double> values, const PowerOfTwo& scale) {
  return number_bytes_ == sizeof(double) ? put_values<double>(values, scale)
                                         : put_values<float>(values, scale);
}

// All memory first: where there is too little of it, nothing is on its way from here.
Status DeviceMatrix::upload(Span<const double> values, const PowerOfTwo& scale) {
  const struct {
    std::vector<std::int32_t>& indices;
    std::unique_ptr<Buffer>& buffer;
  } parts[] = {{stored_.row_start, row_start_},
               {stored_.row, row_},
               {stored_.column, column_},
               {stored_.offset, offset_}};
  Status status = allocate(static_cast<std::size_t>(stored_.slots) * number_bytes_, values_);
  for (const auto& part : parts) {
    if (status.ok()) status = allocate(part.indices.size() * sizeof(std::int32_t), part.buffer);
  }
  if (!status.ok()) return status;
  for (const auto& part : parts) {
    if (status.ok()) status = write(part.indices, *part.buffer);
  }
  behind_ = static_cast<std::int32_t>(stored_.row.size());
  if (status.ok()) status = upload_values(values, scale);
  const Status done = queue_.wait();
  for (const auto& part : parts) std::vector<std::int32_t>().swap(part.indices);
  return status.ok() ? done : status;
}

std::size_t DeviceMatrix::groups(const KernelVariant& variant) const {
  const auto rows = static_cast<std::size_t>(stored_.rows);
  const auto group = static_cast<std::size_t>(variant.work_group);
  if (variant.kind == 1) return rows;
  return (rows * static_cast<std::size_t>(variant.lanes()) + group - 1) / group;
}

Status DeviceMatrix::multiply(DeviceKernels& kernels, KernelVariant variant, const Buffer& x,
                              Buffer& y, const FusedProduct* fused) {
  if (stored_.rows == 0) return {};
  if (fused != nullptr) variant.fused = fused->diagonal != nullptr ? 2 : 1;
  const auto program = kernels.get(operation(), variant);
  if (!program.ok()) return program.status();
  Argument arguments[11];
  std::size_t count = 0;
  const auto pass = [&](Argument argument) { arguments[count++] = argument; };
  pass(stored_.rows);
  switch (stored_.format) {
    case SparseFormat::csr: pass(stored_.slots), pass(row_start_->argument()); break;
    case SparseFormat::coo: pass(stored_.slots), pass(row_->argument()); break;
    case SparseFormat::dia: pass(stored_.columns), pass(stored_.width); break;
    case SparseFormat::ell: pass(stored_.width); break;
    case SparseFormat::hyb:
      pass(stored_.width), pass(behind_);
      pass(row_->argument());
      break;
    case SparseFormat::sell:
      pass(stored_.slots), pass(row_start_->argument()), pass(row_->argument());
      break;
  }
  pass((stored_.format == SparseFormat::dia ? offset_ : column_)->argument());
  pass(values_->argument()), pass(x.argument()), pass(y.argument());
  if (fused != nullptr) {
    pass((fused->diagonal != nullptr ? *fused->diagonal : x).argument());
    pass(fused->first_part), pass(fused->parts->argument());
  }
  const Range range =
      range_of(groups(variant) * static_cast<std::size_t>(variant.work_group), variant.work_group);
  return (*program)->enqueue(0, range, {arguments, count}, {}, nullptr);
}

}  // namespace idletune::krylov
