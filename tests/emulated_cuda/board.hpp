// Boards whose limits the emulated device has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emulated_cuda {

struct Board {
  const char* name;         // for IDLETUNE_EMULATED_BOARD
  const char* device_name;  // as the driver tells it
  int architecture;         // 10 * major + minor
  int multiprocessors;
  unsigned most_threads;  // of a block
  unsigned most_block[3];
  unsigned most_grid[3];
  unsigned registers;        // of a block
  std::size_t shared_bytes;  // of a block
  std::uint64_t memory_bytes;
  // For the model of time, and for nothing else.
  double gigahertz;
  double gigabytes_per_second;
  double warps_issued_per_cycle;  // of a multiprocessor
  double threads_per_multiprocessor;
  double shared_bytes_per_multiprocessor;
};

// Null: there is none of this name.
const Board* board_named(const std::string& name);
const Board& default_board();

}  // namespace emulated_cuda
