// Loops of which scalar evolution says everything: how often they iterate, and where each access
// goes. One need not walk through all of their iterations.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>

#include "models/host/offload/pass/static_code.hpp"
#include "models/host/offload/pass/stores_with_gaps.hpp"

namespace idletune::offload {

// How often control came back to each loop's head since it came from outside.
using LoopPasses = std::map<const llvm::Loop*, std::uint64_t>;

// An innermost loop without decisions but its own.
struct EvenLoop {
  struct Access {
    const llvm::SCEV* address = nullptr;
    bool writes = false, gaps = false;
  };
  const llvm::Loop* loop = nullptr;
  std::vector<const StaticBlock*> blocks;
  std::uint64_t operations = 0;              // of one iteration
  const llvm::SCEV* passes = nullptr;        // how often control comes back to its head
  const llvm::BasicBlock* leaves = nullptr;  // the block that decides, and which successor stays
  unsigned stays = 0;
  std::vector<Access> accesses;
  std::vector<std::pair<std::uint32_t, const llvm::SCEV*>> carried;  // by place; null: unknown
};

class StaticLoops {
 public:
  explicit StaticLoops(const StaticFunction& function);

  const llvm::LoopInfo& info() const { return loops_; }
  bool leaves_gaps(const llvm::Instruction* store) const { return gaps_.count(store) != 0; }
  // Null if the block is not the head of such a loop.
  const EvenLoop* at(const llvm::BasicBlock* head) const;
  // `expression` in iteration `passes` of the loops around it.
  Number evaluate(const llvm::SCEV* expression, const std::vector<Number>& values,
                  const LoopPasses& passes) const;

 private:
  bool describe(const llvm::Loop& loop, EvenLoop& even);
  bool describe_blocks(const llvm::Loop& loop, EvenLoop& even);
  bool describe_block(const llvm::BasicBlock& block, EvenLoop& even);
  bool is_even(const llvm::SCEV* expression, const llvm::Loop& loop);

  const StaticFunction& function_;
  llvm::DominatorTree tree_;
  llvm::LoopInfo loops_;
  llvm::AssumptionCache assumptions_;
  llvm::TargetLibraryInfoImpl library_names_;
  llvm::TargetLibraryInfo library_;
  mutable llvm::ScalarEvolution evolution_;
  std::set<const llvm::Instruction*> gaps_;
  std::map<const llvm::BasicBlock*, EvenLoop> even_;
};

}  // namespace idletune::offload
