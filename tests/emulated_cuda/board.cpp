#include "tests/emulated_cuda/board.hpp"

namespace emulated_cuda {
namespace {

constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;

// Limits: NVIDIA's CUDA C++ Programming Guide, "Compute Capabilities" (5.3 and 8.7), and the data
// sheets of Jetson Nano and Jetson Orin Nano 8GB.
constexpr Board kBoards[] = {
    {"orin_nano",
     "Emulated Jetson Orin Nano",
     87,
     8,
     1024,
     {1024, 1024, 64},
     {2147483647, 65535, 65535},
     65536,
     49152,
     8 * kGigabyte,
     0.625,
     68,
     4,
     1536,
     167936},
    {"jetson_nano",
     "Emulated Jetson Nano",
     53,
     1,
     1024,
     {1024, 1024, 64},
     {2147483647, 65535, 65535},
     32768,
     49152,
     4 * kGigabyte,
     0.9216,
     25.6,
     4,
     2048,
     65536},
};

}  // namespace

const Board* board_named(const std::string& name) {
  for (const Board& board : kBoards) {
    if (name == board.name) return &board;
  }
  return nullptr;
}

const Board& default_board() { return kBoards[0]; }

}  // namespace emulated_cuda
