// Runs kernels.
#pragma once

#include "tests/emulated_cuda/block.hpp"
#include "tests/emulated_cuda/board.hpp"
#include "tests/emulated_cuda/device_memory.hpp"
#include "tests/emulated_cuda/findings.hpp"
#include "tests/emulated_cuda/turn.hpp"

namespace emulated_cuda {

// Where a module's variables are: Module::variables[i] is at addresses[i].
struct LoadedModule {
  const Module* module = nullptr;
  std::vector<std::uint64_t> addresses;
};
// Puts the variables of a module into memory, and takes them out. Problem: there is too little.
LoadedModule load_module(const Module& module, DeviceMemory& memory, const void* context = nullptr);
void unload_module(const LoadedModule& loaded, DeviceMemory& memory);

// Threads of a block for which the board has registers. With launch bounds the compiler keeps to
// what there is. Without, nobody here knows how many it takes: no more than the PTX names, 16 for
// itself, and 255.
std::uint64_t threads_with_registers(const Board& board, const Kernel& kernel);

// Why the board does not run this; empty: it does.
std::string over_limits(const Board& board, const Launch& launch);

// Runs all blocks, one after another, and returns what they took. The launch must be within the
// board's limits. Between two instructions others may get the turn, which the caller has. Problem:
// the kernel was ended.
Work run_kernel(const Launch& launch, const LoadedModule& loaded, DeviceMemory& memory,
                Findings& findings, Turn& turn);

}  // namespace emulated_cuda
