// One kernel on one device: its package, its launch table, and the launches themselves.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/agent.hpp>

#include "agent/launch/class_offers.hpp"
#include "agent/launch/given_arguments.hpp"
#include "agent/launch/launch_table.hpp"
#include "agent/launch/variant_builder.hpp"
#include "models/package/captured_arguments.hpp"
#include "models/package/launch_plan.hpp"
#include "platform/os/clock.hpp"

namespace idletune::detail {

// When the application launched what: written by launching threads without waiting, read by the
// background tuner. Old entries are overwritten; a reader that was too slow knows how many it lost.
class LaunchLog {
 public:
  static constexpr std::size_t kCapacity = 256;
  struct Entry {
    Nanoseconds at{0};
    const ShapeSlot* slot = nullptr;
  };
  // `slot`: null where the shape has none.
  void write(Nanoseconds at, const ShapeSlot* slot) { fill(reserve(), at, slot); }
  // The next entry after `position`, which it advances; false when there is none. Entries that are
  // still being written are left out once a later one is there. `lost` is set when entries were
  // overwritten before they could be read.
  bool read(std::uint64_t& position, Entry& entry, bool& lost) const;
  // Where an entry written from now on would be read.
  std::uint64_t end() const { return next_.load(std::memory_order_acquire); }
  // The two halves of write().
  std::uint64_t reserve() { return next_.fetch_add(1, std::memory_order_relaxed); }
  void fill(std::uint64_t i, Nanoseconds at, const ShapeSlot* slot) {
    Cell& cell = cells_[i % kCapacity];
    cell.at.store(at.count(), std::memory_order_relaxed);
    cell.slot.store(slot, std::memory_order_relaxed);
    cell.sequence.store(i + 1, std::memory_order_release);
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> sequence{0};  // index + 1 of the entry it holds
    std::atomic<std::int64_t> at{0};
    std::atomic<const ShapeSlot*> slot{nullptr};
  };
  std::array<Cell, kCapacity> cells_;
  std::atomic<std::uint64_t> next_{0};
};

class KernelState {
 public:
  static constexpr std::uint32_t kLanes = VariantBuilder::kLanes;
  // Every 31st launch of a shape is profiled: where a frame has 8 of them, not always the same one.
  static constexpr std::uint64_t kWatchPeriod = 31;

  // Compiles the default configuration. What the steps of its variants hand results on in takes
  // `scratch_limit_bytes` of device memory at most, all together. Errors: those of Device::compile;
  // unsupported (too many arguments).
  static Result<std::unique_ptr<KernelState>> create(
      Device& device, std::shared_ptr<const KernelPackage> package, std::size_t max_shapes,
      std::uint64_t scratch_limit_bytes = std::uint64_t{256} << 20);
  ~KernelState();  // no launch may be under way

  Status launch(const LaunchOptions& options, const Shape& shape, Span<const Argument> arguments);

  // The slot of a shape, made if need be; none where max_shapes is reached. Errors:
  // invalid_argument or unsupported (the package cannot be launched with this shape), out_of_memory
  // (scratch).
  Result<SlotRef> slot_for(SlotAccess access, const Shape& shape);
  // Whether the kernel has launches of this shape, or needs none. Errors: as those of launch().
  Status admits(const Shape& shape) const;
  // What the application says (TunedKernel); any thread, without waiting.
  void expect_launches(const Shape& shape, double launches);
  void constants_changed(const Shape& shape);
  // Copies the package's captured buffers of a launch to come, after everything on the adopted
  // queue. Errors: those of launch(); of CapturedArguments::make and check. Any thread.
  Result<CapturedArguments> capture(const Shape& shape, Span<const Argument> arguments,
                                    std::uint64_t limit_bytes) const;
  // These three: VariantBuilder.
  const trial::StepPrograms& default_programs() const { return builder_.default_programs(); }
  bool can_be_built(const Configuration& configuration) const {
    return builder_.can_be_built(configuration);
  }
  Result<std::unique_ptr<Variant>> build(const ShapeSlot& slot, const Configuration& configuration,
                                         Selection selection) {
    return builder_.build(slot, configuration, selection);
  }

  // What began long ago has ended well.
  void look_at_trace();
  Device& device() const { return device_; }
  const KernelPackage& package() const { return *package_; }
  const std::shared_ptr<const KernelPackage>& shared_package() const { return package_; }
  const std::string& name() const { return name_; }
  ClassOffers& classes() { return classes_; }
  LaunchTable& table() { return table_; }
  const Lanes& lanes() const { return lanes_; }
  const LaunchLog& launch_log() const { return log_; }
  std::uint64_t unslotted_launches() const { return unslotted_.load(std::memory_order_relaxed); }
  // Of them, those that ran a variant of the shape's class.
  std::uint64_t class_launches() const { return class_.load(std::memory_order_relaxed); }
  // Launches write their time by this clock into the log (one reading each); null: they do not.
  // The clock must outlive the launches.
  void log_launches(const MonotonicClock* clock) {
    log_clock_.store(clock, std::memory_order_relaxed);
  }
  // Where launches say that they begin what no launch of this process has proven yet; null:
  // nowhere. Before anything but the default is published. Both must outlive this. `subject`: the
  // kernel on its device under its driver (journal::Trial::who()).
  void trace_launches(LaunchTrace* trace, const MonotonicClock* clock, std::uint64_t subject) {
    trace_ = {trace, clock, subject};
  }
  // False while no sampled launch comes back with a profile: the queue has no profiling.
  bool profiling_available() const { return untimed_.load(std::memory_order_relaxed) < kUntimed; }
  bool last_sample_was_timed() const { return untimed_.load(std::memory_order_relaxed) == 0; }

 private:
  KernelState(Device& device, std::shared_ptr<const KernelPackage> package, std::size_t max_shapes,
              std::uint64_t scratch_limit_bytes);
  Status unless_no_work(const Shape& shape, Status status) const;
  Status launch_unslotted(std::uint32_t lane, const LaunchOptions& options, const Shape& shape,
                          Argument* arguments);
  // Of a package in one configuration. `busy` where it needs memory of its own; nothing was
  // enqueued then.
  Status launch_planned(std::uint32_t lane, const LaunchOptions& options, const Shape& shape,
                        const ClassVariant* variant, Argument* arguments, Profiles* profiles,
                        bool& begun);
  Status launch_default_once(std::uint32_t lane, const LaunchOptions& options, const Shape& shape,
                             Argument* arguments, bool& begun);
  // Whether the trace knows of it. The variant is not proven.
  bool traced(const ShapeSlot& slot, const Variant& variant, bool& begins) const;
  Status enqueue(ShapeSlot& slot, std::uint32_t lane, const Variant& variant, Argument* arguments,
                 const LaunchOptions& options, bool watched);
  // `begun`: whether anything was enqueued that may change the application's data, also where it
  // then failed. `busy` where it needs a setup that is not allowed: nothing was enqueued.
  // `version`: of what constant buffers hold.
  Status enqueue_variant(std::uint32_t lane, const Variant& variant, std::uint32_t version,
                         const Argument* arguments, LaunchOptions options, Profiles* profiles,
                         bool& begun) const;
  Status enqueue_steps(std::uint32_t lane, const trial::StepPrograms& programs,
                       Span<const PlannedStep> steps, const Argument* arguments,
                       const LaunchOptions& options, Profiles* profiles, bool& begun) const;
  // Whether this launch is profiled for the production watch.
  bool is_sample(ShapeSlot& slot, std::uint64_t launches) const;
  bool post(WatchTickets& tickets, const Profiles& profiles, const Variant* variant);

  Device& device_;
  std::shared_ptr<const KernelPackage> package_;
  std::string name_;
  GivenArguments arguments_;
  KernelTrace trace_;
  std::shared_ptr<const KernelPackage> default_package_;  // in the default configuration
  VariantBuilder builder_;
  Lanes lanes_;
  ClassOffers classes_;
  LaunchTable table_;
  std::atomic<const MonotonicClock*> log_clock_{nullptr};
  static constexpr std::uint32_t kUntimed = 64;  // in a row, once there was a timed one
  std::atomic<std::uint32_t> untimed_{kUntimed - 1};
  std::atomic<std::uint64_t> unslotted_{0};
  std::atomic<std::uint64_t> class_{0};
  LaunchLog log_;
};

}  // namespace idletune::detail
