// What an access of a warp costs, in the model of time.
#pragma once

#include <array>
#include <cstdint>

#include "tests/emulated_cuda/block.hpp"

namespace emulated_cuda {

using Addresses = std::array<std::uint64_t, kWarpThreads>;

// Only those of the mask count.
void count_access(Warp& warp, const Instruction& instruction, Mask mask, const Addresses& addresses,
                  std::size_t bytes);

// A plausible time of a launch on the board; nobody's measurement.
struct Board;
double modelled_nanoseconds(const Board& board, const Launch& launch, const Work& work);

}  // namespace emulated_cuda
