// What the tuner owns of a shape's slot: the variants that launches run, or may still be running.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agent/launch/launch_table.hpp"

namespace idletune::detail {

// Used by one thread, the tuner's; launching threads see what it does through the slot. Slot and
// lanes must outlive it, and no launch may be under way when it is destroyed.
class PublishedVariants {
 public:
  PublishedVariants(ShapeSlot& slot, const Lanes& lanes) : slot_(slot), lanes_(lanes) {}

  // What launches run from now on; null: the default again. The variant before is kept until no
  // launch can still use it.
  void publish(std::unique_ptr<Variant> variant);
  // Null: the default runs.
  const Variant* adopted() const { return adopted_.get(); }
  const Variant& running() const { return adopted_ ? *adopted_ : slot_.fallback; }

  // Every `period`-th launch runs and times the candidate; 0: none does for now.
  void offer(std::unique_ptr<Variant> candidate, std::uint32_t period);
  void set_period(std::uint32_t period);
  void withdraw();
  // Null: none is offered.
  const Variant* candidate() const { return candidate_.get(); }

  // Frees what no launch and no ticket can still name. Call after the tickets that had ended were
  // taken.
  void reclaim();
  std::size_t retired() const { return retired_.size(); }

 private:
  void retire(std::unique_ptr<Variant> variant);

  ShapeSlot& slot_;
  const Lanes& lanes_;
  std::unique_ptr<Variant> adopted_;
  std::unique_ptr<Variant> candidate_;
  std::vector<std::unique_ptr<Variant>> retired_;
  std::optional<Lanes::Quiescence> quiescence_;  // since the last of them was retired
};

}  // namespace idletune::detail
