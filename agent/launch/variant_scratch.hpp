// Device memory in which the steps of one variant hand results on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "platform/os/mutex.hpp"

namespace idletune::detail {

// What all variants of a kernel have taken, and may take. Must outlive them.
struct ScratchUse {
  explicit ScratchUse(std::uint64_t limit) : limit_bytes(limit) {}
  const std::uint64_t limit_bytes;
  std::atomic<std::uint64_t> bytes{0};
};

// Taken when a variant is made, never in a launch. All launches of the variant share it, whatever
// threads and queues they come from: the steps of one are enqueued without another's between them,
// and where the queue changes, the next launch waits on the device for the one before.
class VariantScratch {
 public:
  explicit VariantScratch(ScratchUse& use) : use_(use) {}
  ~VariantScratch();
  VariantScratch(const VariantScratch&) = delete;
  VariantScratch& operator=(const VariantScratch&) = delete;

  // One buffer more, and the argument that stands for it. Errors: out_of_memory (beyond the limit,
  // or the device has no more).
  Status add(Device& device, std::uint64_t bytes, Argument& argument);
  // Whoever holds this enqueues one launch's steps.
  Mutex enqueueing;
  // What is enqueued on `queue` (null: the adopted one) from now on comes after all earlier uses. A
  // queue that was given once must not be destroyed before the variant. Errors: those of
  // Device::order.
  Status begin_on(Device& device, void* queue) IDLETUNE_REQUIRES(enqueueing);

 private:
  ScratchUse& use_;
  std::uint64_t bytes_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  void* queue_ IDLETUNE_GUARDED_BY(enqueueing) = nullptr;  // that used it last
  bool used_ IDLETUNE_GUARDED_BY(enqueueing) = false;
};

}  // namespace idletune::detail
