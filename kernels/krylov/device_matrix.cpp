#include "kernels/krylov/device_matrix.hpp"

#include <algorithm>

namespace idletune::krylov {
namespace {

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

Status DeviceMatrix::put(const std::vector<std::int32_t>& indices,
                         std::unique_ptr<Buffer>& buffer) {
  const Bytes bytes = bytes_of(indices);
  auto allocated = queue_.allocate(std::max<std::size_t>(bytes.size(), sizeof(std::int32_t)));
  if (!allocated.ok()) return allocated.status();
  buffer = std::move(*allocated);
  return bytes.empty() ? Status() : queue_.write(*buffer, 0, bytes);
}

template <class T>
Status DeviceMatrix::put_values(Span<const double> values) {
  if (stored_.slots == 0) return {};
  std::vector<T> numbers(values.begin(), values.end());
  std::vector<T> slots(static_cast<std::size_t>(stored_.slots));
  scatter<T>(stored_, numbers, slots);
  Status status = queue_.write(*values_, 0, bytes_of(slots));
  return status.ok() ? queue_.wait() : status;
}

Status DeviceMatrix::upload_values(Span<const double> values) {
  return number_bytes_ == sizeof(double) ? put_values<double>(values) : put_values<float>(values);
}

Status DeviceMatrix::upload(Span<const double> values) {
  Status status = put(stored_.row_start, row_start_);
  if (status.ok()) status = put(stored_.row, row_);
  if (status.ok()) status = put(stored_.column, column_);
  if (status.ok()) status = put(stored_.offset, offset_);
  if (!status.ok()) return status;
  const auto slots = static_cast<std::size_t>(std::max(stored_.slots, 1));
  auto allocated = queue_.allocate(slots * number_bytes_);
  if (!allocated.ok()) return allocated.status();
  values_ = std::move(*allocated);
  status = upload_values(values);
  return status.ok() ? queue_.wait() : status;
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
      pass(stored_.width), pass(static_cast<std::int32_t>(stored_.row.size()));
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
