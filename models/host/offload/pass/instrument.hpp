// Makes a region's copy of a function count and tell.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include "models/host/offload/pass/region_code.hpp"
#include "models/host/offload/pass/runtime_calls.hpp"

namespace idletune::offload {

// What a region's code keeps for each block.
struct BlockVariables {
  llvm::GlobalVariable* counts = nullptr;  // how often it ran
  llvm::GlobalVariable* last = nullptr;    // where its branch went to: a successor's number and one
};

// Brings variables into registers, as far as they are ever alone.
void variables_to_registers(llvm::Function& function);

// Each block whose count does not follow from others' (Block::next, which is filled in) adds one to
// it, each access looks at the recent blocks, and each branch tells when it goes another way than
// the last time. The code is doubled: one half tells blocks and
// accesses, the other one does not. Where control may change sides (at the function's begin, at
// loops, behind calls) it goes where idletune_tracing says. `outermost`: the function that is the
// region itself.
void instrument(FunctionCode& code, Program& program, const RuntimeCalls& calls,
                const BlockVariables& variables, bool outermost);

}  // namespace idletune::offload
