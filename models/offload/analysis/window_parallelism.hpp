// How many operations could run at once: dependences within windows of the stream of operations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/offload/analysis/operation.hpp"

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
  // `to` is another name of `from` from now on: no operation.
  void move(ValueNumber from, ValueNumber to) { level_of_[to] = level_of_[from]; }
  // All of `from` at once, as if each were read before any is written.
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
  std::uint64_t windows(std::size_t window) const { return finished_[window]; }

 private:
  // Whole numbers below 2^24: the oldest vector units have the greater of two floats.
  using Level = float;
  // Eight at a time suit vector units; the last three are never looked at.
  struct alignas(32) Levels {
    Level at[8] = {};
  };
  static void raise(Levels& levels, const Levels& to) {
    for (int i = 0; i < 8; ++i) levels.at[i] = levels.at[i] < to.at[i] ? to.at[i] : levels.at[i];
  }
  struct Store {
    std::uint64_t key = 0;
    std::uint64_t epoch = 0;
    Levels levels;
  };

  const Store* find(std::uint64_t key) const;
  Store* insert(std::uint64_t key);
  void wait_for_stores(std::uint64_t address, std::uint32_t bytes, Levels& levels);
  void remember_store(std::uint64_t address, std::uint32_t bytes, const Levels& levels);
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
  std::vector<Store> stores_;                // open addressing; entries of earlier epochs are free
  std::uint64_t epoch_ = 1;
  std::size_t stored_ = 0;
  bool single_bytes_ = false;  // of this epoch some stores were below 4 bytes
  std::vector<Levels> moving_;
};

}  // namespace idletune::offload
