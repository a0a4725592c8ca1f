// A block of threads while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulated_cuda/device_memory.hpp"
#include "tests/emulated_cuda/findings.hpp"
#include "tests/emulated_cuda/instruction.hpp"
#include "tests/emulated_cuda/warp.hpp"

namespace emulated_cuda {

// What a run costs, in the model of time.
struct Work {
  double thread_operations = 0;
  double issue_cycles = 0;
  double sectors = 0;  // of 32 bytes, moved between multiprocessors and memory
  double shared_cycles = 0;
  double longest_warp_cycles = 0;
  std::uint32_t launch_number = 0;  // from 1
};

struct Launch {
  const Kernel* kernel = nullptr;
  const void* context = nullptr;  // whose memory it may use
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  std::vector<unsigned char> parameters;
  std::size_t dynamic_shared_bytes = 0;
};

// Who read and wrote two bytes of shared memory, and in which interval between two barriers.
// Threads are numbered from 0.
struct SharedMark {
  std::uint32_t written_in = 0, read_in = 0;               // intervals; 0: never
  std::uint32_t writer_interval = 0, reader_interval = 0;  // of their warps
  std::uint16_t writer = 0, reader = 0;
  bool several_readers = false;  // of the last reader's warp
  bool several_warps_read = false;
  bool by_atomics = false;
};

struct Block {
  const Launch* launch = nullptr;
  const Kernel* kernel = nullptr;
  DeviceMemory* memory = nullptr;
  Findings* findings = nullptr;
  Work work;
  unsigned index[3] = {0, 0, 0};
  std::uint32_t number = 0;  // from 1
  std::uint32_t launch_number = 0;
  unsigned threads = 0;
  std::uint32_t first_interval = 1;  // of the block
  std::uint32_t interval = 1;        // between two barriers
  std::size_t mark_bytes = 4;        // of each mark
  std::vector<unsigned char> shared;
  std::vector<SharedMark> marks;
  std::vector<unsigned char> local, local_written;  // of thread after thread
  Allocation* last = nullptr;                       // that was used
};

// Something wrong with the kernel; it goes on.
void note(Warp& warp, const Instruction& instruction, int thread, const std::string& what);
// As note, and ends the kernel: throws Problem.
[[noreturn]] void stop(Warp& warp, const Instruction& instruction, int thread, int error,
                       const std::string& what);

enum class Access : std::uint8_t { read, write, atomic };

// Where `bytes` bytes at an address of the instruction's space are, after all checks. `value`: what
// will be written; null: not known. Stops the kernel outside of memory, and at addresses that are
// no multiple of `bytes`.
unsigned char* checked_memory(Warp& warp, const Instruction& instruction, int thread,
                              std::uint64_t address, std::size_t bytes, Access access,
                              const void* value);

}  // namespace emulated_cuda
