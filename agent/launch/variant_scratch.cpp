#include "agent/launch/variant_scratch.hpp"

#include <utility>

namespace idletune::detail {

Status VariantScratch::add(Device& device, std::uint64_t bytes, Argument& argument) {
  const std::uint64_t before = use_.bytes.fetch_add(bytes, std::memory_order_relaxed);
  bytes_ += bytes;
  if (bytes > use_.limit_bytes || before > use_.limit_bytes - bytes) {
    return Status(StatusCode::out_of_memory, {"scratch of ", bytes, " bytes beside ", before,
                                              ", the limit is ", use_.limit_bytes});
  }
  Result<std::unique_ptr<Buffer>> buffer = device.allocate(static_cast<std::size_t>(bytes));
  if (!buffer.ok()) return buffer.status();
  argument = (*buffer)->argument();
  buffers_.push_back(std::move(*buffer));
  return {};
}

VariantScratch::~VariantScratch() { use_.bytes.fetch_sub(bytes_, std::memory_order_relaxed); }

Status VariantScratch::begin_on(Device& device, void* queue) {
  Status ordered = used_ ? device.order(queue_, queue) : Status();
  if (!ordered.ok()) return ordered;
  used_ = true;
  queue_ = queue;
  return {};
}

}  // namespace idletune::detail
