// What profiled code calls, and the short ways there.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

namespace idletune::offload {

// What the code calls, and the variables that it shares with the runtime.
struct RuntimeCalls {
  explicit RuntimeCalls(llvm::Module& module);

  llvm::FunctionCallee change, block, access, bulk, turn;
  // Of this module: they look before they call.
  llvm::Function *read = nullptr, *write = nullptr, *decide = nullptr;
  llvm::Function *read_near = nullptr, *write_near = nullptr, *update_near = nullptr;
  llvm::Function *write_with_gaps = nullptr, *write_near_with_gaps = nullptr;
  llvm::GlobalVariable *countdown = nullptr, *tracing = nullptr;
};

}  // namespace idletune::offload
