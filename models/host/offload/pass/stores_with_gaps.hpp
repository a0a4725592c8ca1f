// Which stores leave memory between what they write.
#pragma once

#include <set>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>

namespace idletune::offload {

// Stores and atomic updates of `function` of which no loop is known to write one behind the other:
// neither alone nor, with the same step, together with others of that loop.
std::set<const llvm::Instruction*> stores_with_gaps(const llvm::Function& function,
                                                    const llvm::LoopInfo& loops,
                                                    llvm::ScalarEvolution& evolution);

}  // namespace idletune::offload
