// How many operations could run at once: dependences within windows of the stream of operations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/host/offload/analysis/operation.hpp"

namespace idletune::offload {

// Cuts the stream into windows of W operations, one behind the other. In a window an operation
// stands one level above the highest of those that it waits for: the makers of its sources, and of
// what it loads, as far as they are in the same window. The window's parallelism is W over the
// number of levels, as if everything took one unit of time and nothing else limited it. Of windows
// the mean is taken. A stream that is shorter than a window counts as one window.
//
// Through memory, whole words of 4 bytes depend on whole words; accesses below 4 bytes depend on
// the very byte. Memory is bounded: dependences on stores beyond 200,000 words per window of 65,536
// operations are not seen.
class WindowParallelism {
 public:
  static constexpr std::size_t kWindows = 5;
  static constexpr std::array<std::uint32_t, kWindows> kSizes{32, 256, 2048, 16384, 65536};

  explicit WindowParallelism(std::size_t values);  // numbers of values are below `values`

  // An operation. `address` and `bytes` are those of an access.
  void execute(const Operation& operation, std::uint64_t address);
  // Each of `to` is another name of its `from` from now on, as if all were read before any is
  // written: no operation.
  void move_together(const ValueNumber* from, const ValueNumber* to, std::size_t count);
  // A gap in the stream: unfinished windows are given up, and nothing before is waited for.
  void restart();

  // How many windows each one that ends from now on stands for.
  void set_weight(double weight, double long_weight) {
    weight_ = weight;
    long_weight_ = long_weight;  // of the two largest
  }

  // Of the windows of kSizes[window] operations; 0 before the first operation.
  double mean(std::size_t window) const;

 private:
  // Whole numbers below 2^24: the oldest vector units have the greater of two floats.
  using Level = float;
  // For units of four at a time, said in so many words: a compiler that takes them apart is three
  // times as slow. The last three are never looked at.
  struct Levels {
    using Four = Level __attribute__((vector_size(16)));
    Four half[2] = {{}, {}};
    Level at(std::size_t window) const { return half[window / 4][window % 4]; }
    void set(std::size_t window, Level level) { half[window / 4][window % 4] = level; }
  };
  static void raise(Levels& levels, const Levels& to) {
    levels.half[0] = levels.half[0] < to.half[0] ? to.half[0] : levels.half[0];
    levels.half[1] = levels.half[1] < to.half[1] ? to.half[1] : levels.half[1];
  }
  struct Store {
    std::uint64_t key = 0;
    std::size_t slot = 0;  // that leads here
    Levels levels;
  };

  // The store that a slot leads to; null if it is one of an earlier window.
  const Store* in_slot(std::size_t slot) const {
    const std::uint32_t number = store_in_[slot];
    return number < stores_.size() && stores_[number].slot == slot ? &stores_[number] : nullptr;
  }
  const Store* find(std::uint64_t key) const;
  Store* insert(std::uint64_t key);
  // The highest levels of what is loaded.
  Levels levels_of_stores(std::uint64_t address, std::uint32_t bytes) const;
  void remember_store(std::uint64_t address, std::uint32_t bytes, Levels levels);
  std::uint32_t in_window(std::size_t window) const {
    return window == 0 ? in_smallest_ : in_window_[window] + in_smallest_;
  }
  void finish_smallest();
  void finish(std::size_t window);
  void keep_longest_unfinished();
  void forget_stores();
  void begin_at_zero();

  std::vector<Levels> level_of_;  // by value
  Levels base_;                   // below the window's first level
  Levels highest_;
  std::uint32_t in_smallest_ = 0;           // operations in the window of kSizes[0]
  std::uint32_t in_window_[kWindows] = {};  // in the larger ones, those in the smallest left out
  std::uint64_t finished_[kWindows] = {};
  double weight_ = 1, long_weight_ = 1;
  double weights_[kWindows] = {};
  double sum_[kWindows] = {};
  // The longest unfinished window, where none was finished: operations and levels.
  std::uint32_t unfinished_[kWindows] = {};
  double unfinished_parallelism_[kWindows] = {};

  std::vector<std::uint64_t> maybe_stored_;  // a bit per slot where a search may begin
  // Stores of the largest window lie behind each other, where those of the one before lay, so that
  // little memory is touched; slots with open addressing say which, and are never cleared.
  std::vector<std::uint32_t> store_in_;
  std::vector<Store> stores_;
  bool single_bytes_ = false;  // some of them were below 4 bytes
  std::vector<Levels> moving_;
};

}  // namespace idletune::offload
