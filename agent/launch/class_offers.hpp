// What runs where a shape has no variant of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <idletune/device.hpp>

#include "agent/launch/class_audit.hpp"
#include "agent/launch/class_variants.hpp"
#include "agent/launch/launch_table.hpp"
#include "agent/launch/variant_builder.hpp"

namespace idletune::detail {

// What the tuner offers launches of such shapes, and which of it runs at which slot. It owns the
// offers, also those that launches may still read.
class ClassOffers {
 public:
  // All must outlive it.
  ClassOffers(Device& device, const KernelPackage& package, VariantBuilder& builder,
              const Lanes& lanes);

  // --- the tuner's thread ---
  // What launches may run, instead of what was offered before: no launch that begins from now on
  // runs anything else for a class. Before that, what the steps of each hand on.
  void expect_scratch(const VariantScratch& scratch) { builder_.shared_scratch().note(scratch); }
  void offer(std::vector<ClassVariant> variants);
  // The configuration lost against the default at the slot's shape, or was refused: it does not run
  // there for its class, as long as the slot is the shape's.
  void lost(ShapeSlot& slot, const Configuration& configuration);
  // Whether class variants are compared with the default where they run: then those that are not
  // kept run as well, as far as launches are granted and timed.
  void compare(bool compare) { compares_.store(compare, std::memory_order_relaxed); }
  bool run_at(const ShapeSlot& slot) const;
  // What is offered for the slot's class and did not lose there, whether it may run or not; null:
  // nothing. Valid until the next offer.
  const ClassVariant* candidate(const ShapeSlot& slot) const;
  // Frees what no launch can still read of earlier offers, and takes scratch that launches lacked.
  void reclaim();
  // ClassVariants::look().
  void look_at_trace(Nanoseconds now) const { offered_->look(now); }

  // --- launches, while they hold a lane; `timed`: whether the queue tells times ---
  const ClassVariants& newest() const { return *offer_.load(std::memory_order_seq_cst); }
  bool compares(bool timed) const { return compares_.load(std::memory_order_relaxed) && timed; }
  // No offer since has anything else for it.
  bool looked_at(const ShapeSlot& slot) const {
    return slot.class_tried.load(std::memory_order_relaxed) ==
           newest().number() + builder_.shared_scratch().enlarged();
  }
  // What the slot runs that nobody adopted for it, where `current` is its fallback or its class's:
  // that one if the offer covers it, else the default.
  const Variant* look(ShapeSlot& slot, const Variant* current, std::uint64_t launches, bool timed);

  ClassAudit audit;  // of shapes that have no slot

 private:
  void publish(std::unique_ptr<ClassVariants> offer);
  // Puts it there, or under the offer's number.
  bool install(ShapeSlot& slot, const ClassVariants& offer, bool compared);

  Device& device_;
  const KernelPackage& package_;
  VariantBuilder& builder_;
  const Lanes& lanes_;
  std::atomic<const ClassVariants*> offer_{nullptr};  // never null: `offered_`
  std::unique_ptr<ClassVariants> offered_;
  std::optional<Lanes::Quiescence> since_offer_;
  std::atomic<bool> compares_{false};
};

}  // namespace idletune::detail
