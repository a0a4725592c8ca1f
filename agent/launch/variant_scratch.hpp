// Device memory of one variant: what its steps hand results on in, and what its setup has prepared.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "models/package/launch_plan.hpp"
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
  // What is enqueued on `queue` (null: the adopted one) from now on comes after all earlier uses;
  // then that is over, and the queue may go. Errors: those of Device::order and Device::mark.
  Status begin_on(Device& device, void* queue) IDLETUNE_REQUIRES(enqueueing);
  Status end_on(Device& device, void* queue) IDLETUNE_REQUIRES(enqueueing);

  // --- the setup ---
  // How often launches may make it is said by whoever made the variant: kAlways for a default,
  // which nothing stands in for.
  static constexpr std::uint32_t kAlways = UINT32_MAX;
  std::atomic<std::uint32_t> setups_allowed{0};
  std::atomic<std::uint32_t> setups_made{0};
  // Launches that would have needed a setup: of all, and since the last that did not.
  std::atomic<std::uint64_t> unprepared_launches{0};
  std::atomic<std::uint32_t> unprepared_in_a_row{0};
  // Before it is used: how many arguments the setup takes.
  void expect_setup(Span<const PlannedStep> setup);
  // What a launch finds. Nothing is prepared before the first setup, after arguments other than the
  // setup's, or with another `version` of what constant buffers hold.
  enum class Prepared : std::uint8_t {
    yes,
    now,  // the setup is to be enqueued before the steps
    no    // and the setup is not allowed
  };
  Prepared look(Span<const PlannedStep> setup, const Argument* arguments, std::uint32_t version)
      IDLETUNE_REQUIRES(enqueueing);
  // Before steps of a setup are enqueued, and once all of them were.
  void forget_setup() IDLETUNE_REQUIRES(enqueueing) { prepared_ = false; }
  void note_setup(Span<const PlannedStep> setup, const Argument* arguments, std::uint32_t version)
      IDLETUNE_REQUIRES(enqueueing);

 private:
  friend class SharedScratch;
  bool is_of(Span<const PlannedStep> setup, const Argument* arguments) const
      IDLETUNE_REQUIRES(enqueueing);

  ScratchUse& use_;
  std::uint64_t bytes_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Device* device_ = nullptr;                               // of the mark
  void* mark_ IDLETUNE_GUARDED_BY(enqueueing) = nullptr;   // of the last use; may be null
  void* queue_ IDLETUNE_GUARDED_BY(enqueueing) = nullptr;  // that used it last
  bool used_ IDLETUNE_GUARDED_BY(enqueueing) = false;
  std::vector<Argument> prepared_of_ IDLETUNE_GUARDED_BY(enqueueing);  // of the last setup
  std::uint32_t prepared_version_ IDLETUNE_GUARDED_BY(enqueueing) = 0;
  bool prepared_ IDLETUNE_GUARDED_BY(enqueueing) = false;
};

// Of all launches of a kernel that run for shapes without memory of their own: a buffer for each of
// its arguments of that kind, in order, which a launch takes if it is large enough. The tuner adds
// larger ones, within half of what the kernel may take. Those before stay until the kernel ends,
// since slots name them: each is larger than all before it, so that they take less than the last
// one does.
class SharedScratch final : public VariantScratch {
 public:
  using VariantScratch::VariantScratch;
  // Any thread. False where there is none so large; that is noted.
  bool lend(std::size_t number, std::uint64_t bytes, Argument& buffer);
  // As if a launch had wanted what another variant has.
  void note(const VariantScratch& other);
  // The tuner: takes what was noted, if it may be had.
  void enlarge(Device& device);
  // How often that gave something.
  std::uint32_t enlarged() const { return enlarged_.load(std::memory_order_relaxed); }

 private:
  struct Place {
    std::atomic<const Buffer*> buffer{nullptr};
    std::atomic<std::uint64_t> wanted{0};
    std::uint64_t refused = UINT64_MAX;  // that much was not to be had
  };
  std::array<Place, kMaxArguments> places_;
  std::atomic<std::uint32_t> enlarged_{0};
};

}  // namespace idletune::detail
