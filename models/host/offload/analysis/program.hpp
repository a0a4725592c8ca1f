// A region's code as the profiler's pass describes it to the profiled program, and the way from
// what that program reports, blocks and addresses, to the stream that Analysis takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/host/offload/analysis/analysis.hpp"
#include "models/host/offload/analysis/loop_dependences.hpp"

namespace idletune::offload {

// Values that get other names at once: `from[i]` is called `to[i]`, too.
struct Renaming {
  std::vector<ValueNumber> from, to;
};

// Instructions that run one after the other, up to a jump or a call.
struct Block {
  static constexpr std::uint32_t kAny = ~std::uint32_t{0};
  struct Entry {
    std::uint32_t from = kAny;  // the block before, or any
    Renaming renaming;
  };
  std::uint32_t first_operation = 0, operations = 0;
  std::vector<Entry> entries;
  Renaming leaving;  // arguments of the call at its end, or what it returns
  // Blocks into which control comes from here alone, and always does: this one ran as often as they
  // together, and has no count. Empty: it has one.
  std::vector<std::uint32_t> next;
};

struct Program {
  std::string region;
  std::uint32_t values = 1;
  std::vector<Operation> operations;
  std::vector<Block> blocks;
  std::vector<BlockPlace> places;  // of the blocks
  std::vector<Loop> loops;
  std::vector<std::string> remarks;

  // To words and back. decode() trusts them: they are part of the same program.
  std::vector<std::uint32_t> encode() const;
  static Program decode(const std::uint32_t* words);

  // How often a block has run, by the counts of those that have one.
  std::uint64_t runs(std::uint32_t block, const std::uint64_t* counts) const;
  // From counts of blocks to counts of operations.
  std::vector<std::uint64_t> executions(const std::uint64_t* block_counts) const;
};

class Tracer {
 public:
  Tracer(const Program& program, Analysis& analysis)
      : program_(program), analysis_(analysis), dependences_(program.loops, program.places) {}

  // Control comes to a block. What the one before did is analysed now.
  void enter(std::uint32_t block);
  // The next access of the block that runs.
  void access(std::uint64_t address) { addresses_.push_back(address); }
  // The block that runs fills memory, or copies to it.
  void fill(std::uint64_t address, std::uint64_t bytes);
  // The block that runs has come to its end, and nothing is known of what follows.
  void leave();
  // A gap: the block that runs is not analysed. See Analysis::restart().
  void restart(const std::vector<std::uint64_t>& executions);
  const LoopDependences& dependences() const { return dependences_; }
  // Analysed since the last restart.
  std::uint64_t operations() const { return operations_; }

 private:
  void run_block();

  const Program& program_;
  Analysis& analysis_;
  LoopDependences dependences_;
  std::uint32_t running_ = Block::kAny;
  std::vector<std::uint64_t> addresses_;  // of running_
  std::uint64_t operations_ = 0;
};

}  // namespace idletune::offload
