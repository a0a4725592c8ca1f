#include "models/host/offload/analysis/window_parallelism.hpp"

#include <algorithm>

namespace idletune::offload {
namespace {

constexpr std::size_t kStoreSlots = 1U << 18U;
constexpr std::size_t kMostStores = 200000;
constexpr float kHighest = 1 << 23;  // what the largest window adds still counts exactly
constexpr std::uint64_t kByteKey = std::uint64_t{1} << 63U;

std::size_t slot_of(std::uint64_t key) {
  // 18 bits; sixteen keys lie beside each other, so that one look-up brings the next ones near.
  return static_cast<std::size_t>((((key >> 4U) * 0x9E3779B97F4A7C15ULL) >> 50U << 4U) |
                                  (key & 15U));
}

}  // namespace

WindowParallelism::WindowParallelism(std::size_t values)
    : level_of_(values), maybe_stored_(kStoreSlots / 64), store_in_(kStoreSlots) {}

const WindowParallelism::Store* WindowParallelism::find(std::uint64_t key) const {
  std::size_t slot = slot_of(key);
  if ((maybe_stored_[slot / 64] >> (slot % 64) & 1U) == 0) return nullptr;
  for (;; slot = (slot + 1) % kStoreSlots) {
    const Store* store = in_slot(slot);
    if (store == nullptr || store->key == key) return store;
  }
}

WindowParallelism::Store* WindowParallelism::insert(std::uint64_t key) {
  std::size_t slot = slot_of(key);
  maybe_stored_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  while (const Store* store = in_slot(slot)) {
    if (store->key == key) return &stores_[store_in_[slot]];
    slot = (slot + 1) % kStoreSlots;
  }
  if (stores_.size() >= kMostStores) return nullptr;
  store_in_[slot] = static_cast<std::uint32_t>(stores_.size());
  stores_.push_back({key, slot, {}});
  return &stores_.back();
}

WindowParallelism::Levels WindowParallelism::levels_of_stores(std::uint64_t address,
                                                              std::uint32_t bytes) const {
  Levels levels;
  const std::uint64_t last = address + (bytes == 0 ? 0 : bytes - 1);
  for (std::uint64_t word = address >> 2U; word <= last >> 2U; ++word) {
    if (const Store* store = find(word)) raise(levels, store->levels);
  }
  if (!single_bytes_) return levels;
  for (std::uint64_t byte = address; byte <= last; ++byte) {
    if (const Store* store = find(byte | kByteKey)) raise(levels, store->levels);
  }
  return levels;
}

void WindowParallelism::remember_store(std::uint64_t address, std::uint32_t bytes, Levels levels) {
  const std::uint64_t last = address + (bytes == 0 ? 0 : bytes - 1);
  if (bytes < 4) {
    single_bytes_ = true;
    for (std::uint64_t byte = address; byte <= last; ++byte) {
      if (Store* store = insert(byte | kByteKey)) store->levels = levels;
    }
    return;
  }
  for (std::uint64_t word = address >> 2U; word <= last >> 2U; ++word) {
    if (Store* store = insert(word)) store->levels = levels;
  }
}

void WindowParallelism::execute(const Operation& operation, std::uint64_t address) {
  Levels levels = base_;
  for (const ValueNumber source : operation.sources) raise(levels, level_of_[source]);
  if (operation.kind == OperationKind::load && !stores_.empty())
    raise(levels, levels_of_stores(address, operation.bytes));
  levels.half[0] += 1;
  levels.half[1] += 1;
  raise(highest_, levels);
  if (operation.kind == OperationKind::store) remember_store(address, operation.bytes, levels);
  if (operation.result != 0) level_of_[operation.result] = levels;
  if (++in_smallest_ == kSizes[0]) finish_smallest();
}

void WindowParallelism::move_together(const ValueNumber* from, const ValueNumber* to,
                                      std::size_t count) {
  moving_.resize(count);
  for (std::size_t i = 0; i < count; ++i) moving_[i] = level_of_[from[i]];
  for (std::size_t i = 0; i < count; ++i) level_of_[to[i]] = moving_[i];
}

void WindowParallelism::finish_smallest() {
  in_smallest_ = 0;
  finish(0);
  for (std::size_t window = 1; window < kWindows; ++window) {
    in_window_[window] += kSizes[0];
    if (in_window_[window] == kSizes[window]) finish(window);
  }
  if (in_window_[kWindows - 1] != 0) return;
  forget_stores();
  if (highest_.at(0) > kHighest) begin_at_zero();
}

void WindowParallelism::finish(std::size_t window) {
  const double weight = window < 3 ? weight_ : long_weight_;
  sum_[window] += weight * static_cast<double>(kSizes[window]) /
                  static_cast<double>(highest_.at(window) - base_.at(window));
  weights_[window] += weight;
  ++finished_[window];
  in_window_[window] = 0;
  base_.set(window, highest_.at(window));
}

void WindowParallelism::keep_longest_unfinished() {
  for (std::size_t window = 0; window < kWindows; ++window) {
    if (finished_[window] > 0 || in_window(window) <= unfinished_[window]) continue;
    unfinished_[window] = in_window(window);
    unfinished_parallelism_[window] = static_cast<double>(in_window(window)) /
                                      static_cast<double>(highest_.at(window) - base_.at(window));
  }
}

void WindowParallelism::forget_stores() {
  if (!stores_.empty()) std::fill(maybe_stored_.begin(), maybe_stored_.end(), 0);
  stores_.clear();
  single_bytes_ = false;
}

void WindowParallelism::begin_at_zero() {
  for (Levels& levels : level_of_) levels = Levels();
  base_ = highest_ = Levels();
}

void WindowParallelism::restart() {
  keep_longest_unfinished();
  for (std::uint32_t& count : in_window_) count = 0;
  in_smallest_ = 0;
  base_ = highest_;
  forget_stores();
  if (highest_.at(0) > kHighest) begin_at_zero();
}

double WindowParallelism::mean(std::size_t window) const {
  if (finished_[window] > 0) return sum_[window] / weights_[window];
  if (in_window(window) <= unfinished_[window]) return unfinished_parallelism_[window];
  return static_cast<double>(in_window(window)) /
         static_cast<double>(highest_.at(window) - base_.at(window));
}

}  // namespace idletune::offload
