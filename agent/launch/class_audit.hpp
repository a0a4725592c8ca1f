// What runs for its class at shapes that have no slot.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/launch/launch_table.hpp"

namespace idletune::detail {

// Nobody sees how fast a variant is at a shape without a slot. So one such shape at a time is
// looked at: its launches run the variant and the default in turn, and are timed. Which one is left
// to where the next round begins.
class ClassAudit {
 public:
  enum class Turn { nobodys, variants, defaults };

  // --- launches ---
  // `number`: of the launch, among those without a slot. `variant`: the digest of what would run.
  Turn turn(std::uint64_t shape, std::uint64_t variant, std::uint64_t number) {
    if (number < from_.load(std::memory_order_relaxed)) return Turn::nobodys;
    std::uint64_t looked_at = shape_.load(std::memory_order_relaxed);
    if (looked_at == 0 &&
        shape_.compare_exchange_strong(looked_at, shape, std::memory_order_relaxed)) {
      variant_.store(variant, std::memory_order_relaxed);
    } else if (looked_at != shape || variant_.load(std::memory_order_relaxed) != variant) {
      return Turn::nobodys;
    }
    const std::uint64_t launch = launches_.fetch_add(1, std::memory_order_relaxed);
    const bool first = LaunchTurns::at(LaunchTurns::pack(2, 1), launch) == 0;
    if (!(first ? of_variant : of_default).has_free()) return Turn::nobodys;
    return first ? Turn::variants : Turn::defaults;
  }
  // Their tickets are of that comparison's mark, which points to nothing.
  WatchTickets of_variant, of_default;
  static const Variant* mark(std::uint64_t shape, std::uint64_t variant) {
    return reinterpret_cast<const Variant*>(static_cast<std::uintptr_t>(shape ^ variant));
  }

  // --- the tuner ---
  // The digest of what is compared; 0: nothing yet.
  std::uint64_t variant() const { return variant_.load(std::memory_order_relaxed); }
  const Variant* mark() const { return mark(shape_.load(std::memory_order_relaxed), variant()); }
  std::uint64_t launches() const { return launches_.load(std::memory_order_relaxed); }
  void discard(Device& device) {
    of_variant.discard(device);
    of_default.discard(device);
  }
  // Another shape's turn, from that launch on.
  void begin(std::uint64_t number) {
    from_.store(number, std::memory_order_relaxed);
    variant_.store(0, std::memory_order_relaxed);
    shape_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> from_{0}, shape_{0}, variant_{0}, launches_{0};
};

}  // namespace idletune::detail
