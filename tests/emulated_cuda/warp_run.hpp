// Runs the threads of a warp in lockstep.
#pragma once

#include "tests/emulated_cuda/turn.hpp"
#include "tests/emulated_cuda/warp.hpp"

namespace emulated_cuda {

// Until each thread has left or waits at a barrier. Threads that are at different instructions run
// one group after another, those first that are farthest behind, and together again where they
// meet.
void run_warp(Warp& warp, Turn& turn);

}  // namespace emulated_cuda
