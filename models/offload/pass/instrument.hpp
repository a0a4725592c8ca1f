// Makes a region's copy of a function count and tell.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include "models/offload/pass/region_code.hpp"

namespace idletune::offload {

// What the code calls, and the variables that it shares with the runtime.
struct RuntimeCalls {
  explicit RuntimeCalls(llvm::Module& module);

  llvm::FunctionCallee change, block, access, bulk;
  llvm::Function *read = nullptr, *write = nullptr;  // of this module: they look before they call
  llvm::GlobalVariable *countdown = nullptr, *tracing = nullptr;
};

// Brings variables into registers, as far as they are ever alone.
void variables_to_registers(llvm::Function& function);

// Each block adds one to its number in `counts`, and each access looks at the recent blocks. The
// code is doubled: one half tells blocks and accesses, the other one does not. Where control may
// change sides (at the function's begin, at loops, behind calls) it goes where idletune_tracing
// says. `outermost`: the function that is the region itself.
void instrument(FunctionCode& code, const Program& program, const RuntimeCalls& calls,
                llvm::GlobalVariable& counts, bool outermost);

}  // namespace idletune::offload
