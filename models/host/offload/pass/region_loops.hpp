// What the code of a function says of its loops.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "models/host/offload/analysis/program.hpp"
#include "models/host/offload/pass/region_code.hpp"

namespace idletune::offload {

// Adds the function's loops to the program, and tells its blocks where they are.
void describe_loops(const FunctionCode& code, std::uint32_t function, Program& program);

// Whether what is loaded goes back to the same place with something added to it, multiplied by it,
// or the like, and nowhere else.
bool is_update(const llvm::LoadInst& load);

}  // namespace idletune::offload
