#include "agent/launch/launch_table.hpp"

#include <thread>

#include "agent/launch/yield.hpp"

namespace idletune::detail {

bool WatchTickets::post(const Profiles& profiles, const Variant* variant) {
  for (std::size_t i = 0; i < kCount; ++i) {
    std::uint32_t expected = free;
    if (!states_[i].compare_exchange_strong(expected, filling, std::memory_order_acquire)) continue;
    tickets_[i] = {profiles, variant, Nanoseconds{0}};
    states_[i].store(ready, std::memory_order_release);
    return true;
  }
  return false;
}

void discard(Device& device, const Profiles& profiles) {
  for (void* profile : profiles) {
    if (profile != nullptr) device.discard(profile);
  }
}

void WatchTickets::discard(Device& device) {
  take([&device](const WatchTicket& ticket) {
    detail::discard(device, ticket.profiles);
    return true;
  });
}

std::size_t WatchTickets::in_state(State state) const {
  std::size_t count = 0;
  for (const std::atomic<std::uint32_t>& each : states_) {
    if (each.load(std::memory_order_acquire) == state) ++count;
  }
  return count;
}
namespace {

std::size_t table_size(std::size_t max_shapes) {
  std::size_t size = 16;
  while (size < 4 * max_shapes) size *= 2;
  return size;
}

// A small number that differs between threads, so that they start at different lanes.
std::uint32_t thread_number() {
  static std::atomic<std::uint32_t> next{0};
  thread_local const std::uint32_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

constexpr std::uint64_t kOver = ~std::uint64_t{0};

}  // namespace

LaunchTable::LaunchTable(std::size_t max_shapes)
    : slots_(new ShapeSlot[max_shapes]),
      entries_(new std::atomic<ShapeSlot*>[table_size(max_shapes)]()),
      mask_(table_size(max_shapes) - 1),
      max_shapes_(max_shapes) {}

ShapeSlot* LaunchTable::claim(std::uint64_t hash) {
  if (claimed_.fetch_add(1, std::memory_order_relaxed) < max_shapes_) {
    for (std::size_t i = 0; i < max_shapes_; ++i) {
      std::uint32_t expected = ShapeSlot::empty;
      if (slots_[i].state.compare_exchange_strong(expected, ShapeSlot::claimed,
                                                  std::memory_order_acq_rel)) {
        slots_[i].hash = hash;
        return &slots_[i];
      }
    }
  }
  claimed_.fetch_sub(1, std::memory_order_relaxed);
  return nullptr;
}

void LaunchTable::publish(ShapeSlot& slot) {
  if (IDLETUNE_SEEDED(ready_before_listed)) {
    slot.state.store(ShapeSlot::ready, std::memory_order_release);
    IDLETUNE_YIELD("ready");
  }
  for (std::size_t i = 0; i <= mask_; ++i) {
    std::size_t reach = reach_.load(std::memory_order_relaxed);
    while (reach <= i && !reach_.compare_exchange_weak(reach, i + 1)) {
    }
    ShapeSlot* expected = nullptr;
    if (entry(slot.hash, i).compare_exchange_strong(expected, &slot)) break;
  }
  IDLETUNE_YIELD("listed");
  // What the tuner sees as ready but does not find is the second slot of its shape.
  slot.state.store(ShapeSlot::ready, std::memory_order_release);
  published_.fetch_add(1, std::memory_order_acq_rel);
}

void LaunchTable::unlist(ShapeSlot& slot) {
  slot.state.store(ShapeSlot::leaving, std::memory_order_relaxed);
  IDLETUNE_YIELD("leaving");
  for (std::size_t i = 0; i <= mask_; ++i) {
    ShapeSlot* expected = &slot;
    if (entry(slot.hash, i).compare_exchange_strong(expected, nullptr)) return;
  }
}

std::uint64_t LaunchTable::launches() const {
  std::uint64_t sum = launches_of_others_;
  for (std::size_t i = 0; i < max_shapes_; ++i)
    sum += slots_[i].launches.load(std::memory_order_relaxed);
  return sum;
}

void LaunchTable::give_back(ShapeSlot& slot) {
  launches_of_others_ += slot.launches.exchange(0, std::memory_order_relaxed);
  slot.current.store(nullptr, std::memory_order_relaxed);
  slot.time_launches();
  slot.fallback.take_over(Variant());
  slot.of_class.take_over(Variant());
  slot.class_state.store(ShapeSlot::none, std::memory_order_relaxed);
  slot.class_stamp.store(0, std::memory_order_relaxed);
  slot.class_tried.store(0, std::memory_order_relaxed);
  for (std::atomic<std::uint64_t>& one : slot.lost) one.store(0, std::memory_order_relaxed);
  slot.grant(ShapeSlot::kGrant);
  slot.noticed = false;
  slot.said_launches.store(-1, std::memory_order_relaxed);
  IDLETUNE_YIELD("given back");
  slot.state.store(ShapeSlot::empty, std::memory_order_release);
  claimed_.fetch_sub(1, std::memory_order_relaxed);
}

std::uint32_t Lanes::take() {
  const std::uint32_t first = thread_number() % count_;
  for (std::uint32_t i = first, tries = 0;; i = (i + 1) % count_) {
    if (!lanes_[i].taken.exchange(true, std::memory_order_seq_cst)) {
      IDLETUNE_YIELD("lane taken");
      // Only the holder writes it: a plain increment suffices.
      lanes_[i].entries.store(lanes_[i].entries.load(std::memory_order_relaxed) + 1,
                              std::memory_order_seq_cst);
      return i;
    }
    if (++tries % (4 * count_) == 0) std::this_thread::yield();
  }
}

Lanes::Quiescence::Quiescence(const Lanes& lanes) : busy_since_{} {
  for (std::uint32_t i = 0; i < lanes.count_; ++i) {
    const std::uint64_t entries = lanes.lanes_[i].entries.load(std::memory_order_seq_cst);
    busy_since_[i] = lanes.lanes_[i].taken.load(std::memory_order_seq_cst) ? entries : kOver;
  }
}

bool Lanes::Quiescence::reached(const Lanes& lanes) {
  bool all_over = true;
  for (std::uint32_t i = 0; i < lanes.count_; ++i) {
    if (busy_since_[i] == kOver) continue;
    const bool taken = lanes.lanes_[i].taken.load(std::memory_order_seq_cst);
    // More entries than at the start by two or more: the launch of then has certainly ended. (By
    // one may be that very launch, which had taken the lane but not counted yet.)
    const std::uint64_t entries = lanes.lanes_[i].entries.load(std::memory_order_seq_cst);
    if (!taken || entries >= busy_since_[i] + 2) {
      busy_since_[i] = kOver;
    } else {
      all_over = false;
    }
  }
  return all_over;
}

}  // namespace idletune::detail
