// What the tuner owns of a shape's slot: the variants that launches run, or may still be running.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

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

  // Another candidate, the racers()-th, below LaunchTurns::kCandidates. Launches take it in turn as
  // soon as `race` says so (LaunchTurns; 0: none for now).
  void offer(std::unique_ptr<Variant> candidate);
  void race(std::uint32_t turns) { slot_.race_turns.store(turns, std::memory_order_relaxed); }
  // Takes it from the race, to be published or retired; the last one takes its place.
  std::unique_ptr<Variant> withdraw(std::size_t racer);
  std::size_t racers() const { return racers_; }
  const Variant& racer(std::size_t i) const { return *candidates_[i]; }
  // racers(): the variant does not race.
  std::size_t place_of(const Variant* variant) const;
  // It is kept until no launch can still use it.
  void retire(std::unique_ptr<Variant> variant);

  // Frees what no launch and no ticket can still name. Call after the tickets that had ended were
  // taken.
  void reclaim();
  bool has_retired() const { return retired_ != nullptr; }
  // Launches of theirs that were to kill have done so after a while.
  void look_at_retired(Nanoseconds now) const;

 private:
  ShapeSlot& slot_;
  const Lanes& lanes_;
  std::unique_ptr<Variant> adopted_;
  std::array<std::unique_ptr<Variant>, LaunchTurns::kCandidates> candidates_;
  std::size_t racers_ = 0;
  std::unique_ptr<Variant> retired_;             // the last of them
  std::optional<Lanes::Quiescence> quiescence_;  // since the last of them was retired
};

}  // namespace idletune::detail
