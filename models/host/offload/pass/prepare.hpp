// Finds the regions of a module, and brings their code into the form that is described.
#pragma once

#include <string>
#include <vector>

#include <llvm/IR/Module.h>

namespace idletune::offload {

// A region or what is wrong with it.
struct FoundRegion {
  llvm::Function* function = nullptr;
  std::vector<llvm::Function*> all;  // it and what it calls, as far as the code is there
};

// Whether a function is meant by a name: "f", "space::f", the linker's name, or with arguments.
bool is_called(const llvm::Function& function, const std::string& name);

// Functions that are named ("f", "space::f", the linker's name, or with arguments, "f(int)") or
// marked. `error` gets one line if one is missing, ambiguous, or cannot be followed: it is
// recursive, starts threads, has inline assembly or calls through a pointer.
std::vector<FoundRegion> find_regions(llvm::Module& module, const std::vector<std::string>& names,
                                      std::string& error);

// Copies of a region's functions, its own first; they call each other.
std::vector<llvm::Function*> copy_functions(const FoundRegion& region);

// Of a region's copy of a function: no exceptions are caught, what is never reached is gone, small
// copies are loads and stores, variables are in registers, and calls of the region's other
// functions end their blocks. Returns the blocks that follow such calls.
std::vector<llvm::BasicBlock*> prepare(llvm::Function& copy,
                                       const std::vector<llvm::Function*>& copies);

}  // namespace idletune::offload
