// Do a loop's iterations need what earlier ones left behind? Seen while a region runs. Needs
// nothing but the standard library: the profiled program links it, too.
#pragma once

#include <cstdint>
#include <vector>

#include "models/host/offload/analysis/iterations.hpp"
#include "models/host/offload/analysis/operation.hpp"

namespace idletune::offload {

// What one iteration hands to the next, from the least to the worst.
enum class Carried : std::uint8_t {
  nothing = 0,
  reduction = 1,  // a sum, product, least or largest value that nobody looks at meanwhile
  value = 2       // anything else
};

// A loop of a region's code, and what its iterations hand on in registers, which the code says.
struct Loop {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t parent = kNone;  // the loop around it in the same function
  std::uint32_t header = 0;      // the block that begins each iteration
  Carried carried = Carried::nothing;
  // The blocks that do nothing but begin the next iteration; empty if others do, too.
  std::vector<std::uint32_t> latches;
};

// Where a block is.
struct BlockPlace {
  std::uint32_t function = 0;
  bool begins_function = false;
  std::uint32_t loop = Loop::kNone;  // the innermost around it
};

// Fed with blocks and accesses in the order in which they happen. A load depends on the last store
// to the same first byte, if that happened in another iteration of a loop that runs. Stores that
// overwrite each other need no order that anybody sees: an iteration can have places of its own.
// Memory: 4 MiB; older stores are forgotten first, which can only hide a dependence.
class LoopDependences {
 public:
  // Both must live as long.
  LoopDependences(const std::vector<Loop>& loops, const std::vector<BlockPlace>& blocks);

  // Control comes to a block.
  void enter(std::uint32_t block);
  // `updates`: the place gets a sum, product, least or largest value of what it had.
  void load(std::uint64_t address, bool updates);
  // Of that many bytes, whose beginnings of 4 may be loaded one by one.
  void store(std::uint64_t address, std::uint64_t bytes = 4);
  // What comes next does not follow what came before.
  void restart() { running_.clear(); }

  // By block, of the whole run: how often it ran, and its operations each time. Independent or
  // reduction: that is how at least half of the operations can run on at least kLeastParallel
  // threads. Dependent: a tenth cannot.
  Iterations judge(const std::vector<std::uint64_t>& runs,
                   const std::vector<std::uint64_t>& operations) const;
  static constexpr double kLeastParallel = 16;

 private:
  // A loop, or the call of a function.
  struct Running {
    std::uint32_t loop;  // kNone: a call
    std::uint32_t function;
    std::uint64_t begun;      // before its first iteration
    std::uint64_t iteration;  // before the one that runs
  };
  struct Seen {
    Carried carried = Carried::nothing;
    std::uint64_t runs = 0;
    std::uint64_t iterations = 0;
  };
  struct Store {
    std::uint64_t address = 0;
    std::uint64_t time = 0;
  };
  Store& place_of(std::uint64_t address);
  void leave_for(const BlockPlace& place);
  bool contains(std::uint32_t loop, std::uint32_t inner) const;
  Iterations judge_loop(std::uint32_t loop, const std::vector<std::uint64_t>& runs) const;
  double threads_of(std::uint32_t loop, const std::vector<std::uint64_t>& runs) const;

  const std::vector<Loop>& loops_;
  const std::vector<BlockPlace>& blocks_;
  std::vector<Running> running_;        // the outermost first
  std::vector<Seen> seen_;              // by loop
  std::vector<std::uint32_t> callers_;  // by function: the loop that it was called in
  std::vector<Store> stores_;
  std::uint64_t time_ = 0;
};

}  // namespace idletune::offload
