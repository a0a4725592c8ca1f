// Reads the PTX that NVRTC makes.
#pragma once

#include <memory>
#include <string_view>

#include "tests/emulated_cuda/instruction.hpp"

namespace emulated_cuda {

// The largest version of PTX that is read: what NVRTC of CUDA 13 writes.
inline constexpr unsigned kNewestPtxMajor = 9;

// Problem, with the line: PTX that is cut off or wrong, of a later version
// (kUnsupportedPtxVersion), with an instruction that there is not, or two kernels of one name.
std::unique_ptr<Module> parse_ptx(std::string_view text);

}  // namespace emulated_cuda
