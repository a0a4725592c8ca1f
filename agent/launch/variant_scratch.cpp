#include "agent/launch/variant_scratch.hpp"

#include <idletune/text.hpp>

namespace idletune::detail {

Result<std::unique_ptr<VariantScratch>> VariantScratch::take(
    Device& device, const std::vector<std::uint64_t>& sizes, std::shared_ptr<Bytes> in_use,
    std::uint64_t limit_bytes) {
  std::unique_ptr<VariantScratch> scratch(new VariantScratch(std::move(in_use)));
  for (const std::uint64_t size : sizes) {
    const std::uint64_t before = scratch->in_use_->fetch_add(size, std::memory_order_relaxed);
    scratch->bytes_ += size;
    if (size > limit_bytes || before > limit_bytes - size) {
      return Status(StatusCode::out_of_memory, {"scratch of ", size, " bytes beside ", before,
                                                " in use, the limit is ", limit_bytes});
    }
    Result<std::unique_ptr<Buffer>> buffer = device.allocate(static_cast<std::size_t>(size));
    if (!buffer.ok()) return buffer.status();
    scratch->buffers_.push_back(std::move(*buffer));
  }
  return scratch;
}

VariantScratch::~VariantScratch() { in_use_->fetch_sub(bytes_, std::memory_order_relaxed); }

Status VariantScratch::begin_on(Device& device, void* queue) {
  const Status ordered = used_ ? device.order(queue_, queue) : Status();
  if (!ordered.ok()) return ordered;
  used_ = true;
  queue_ = queue;
  return {};
}

}  // namespace idletune::detail
