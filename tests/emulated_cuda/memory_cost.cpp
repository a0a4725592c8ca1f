#include "tests/emulated_cuda/memory_cost.hpp"

#include <algorithm>
#include <cmath>

#include "tests/emulated_cuda/board.hpp"

namespace emulated_cuda {
namespace {

constexpr std::uint64_t kSectorBytes = 32;
constexpr std::uint64_t kBankBytes = 4;
constexpr double kLaunchCycles = 2500;
constexpr double kLatencyCycles = 60;  // of an access, with others under way

// The most different words that one of the 32 banks is asked for.
int bank_conflicts(Mask mask, const Addresses& addresses) {
  std::array<std::uint64_t, kWarpThreads> words{};
  std::size_t count = 0;
  for_each_thread(mask, [&](int thread) {
    words[count++] = addresses[static_cast<std::size_t>(thread)] / kBankBytes;
  });
  auto end = words.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(words.begin(), end);
  end = std::unique(words.begin(), end);
  std::array<int, kWarpThreads> of_bank{};
  int most = 0;
  for (auto word = words.begin(); word != end; ++word) {
    most = std::max(most, ++of_bank[*word % kWarpThreads]);
  }
  return most;
}

std::size_t sectors(Mask mask, const Addresses& addresses, std::size_t bytes) {
  std::array<std::uint64_t, kWarpThreads> touched{};
  std::size_t count = 0;
  for_each_thread(mask, [&](int thread) {
    touched[count++] = addresses[static_cast<std::size_t>(thread)] / kSectorBytes;
  });
  const auto end = touched.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(touched.begin(), end);
  const auto different = std::unique(touched.begin(), end) - touched.begin();
  return static_cast<std::size_t>(different) * std::max<std::size_t>(bytes / kSectorBytes, 1);
}

}  // namespace

void count_access(Warp& warp, const Instruction& instruction, Mask mask, const Addresses& addresses,
                  std::size_t bytes) {
  Work& work = warp.block->work;
  if (instruction.space == Space::shared) {
    const double cycles = bank_conflicts(mask, addresses) *
                          static_cast<double>(std::max<std::size_t>(bytes / kBankBytes, 1));
    work.shared_cycles += cycles;
    warp.cycles += cycles;
    return;
  }
  const auto moved = static_cast<double>(sectors(mask, addresses, bytes));
  work.sectors += moved;
  warp.cycles += moved + kLatencyCycles;
}

double modelled_nanoseconds(const Board& board, const Launch& launch, const Work& work) {
  const double blocks = static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  const double busy = std::min<double>(board.multiprocessors, blocks);
  const double threads = static_cast<double>(launch.block[0]) * launch.block[1] * launch.block[2];
  const double shared =
      static_cast<double>(launch.kernel->shared_bytes + launch.dynamic_shared_bytes);
  double resident = std::floor(board.threads_per_multiprocessor / threads);
  if (shared > 0) {
    resident = std::min(resident, std::floor(board.shared_bytes_per_multiprocessor / shared));
  }
  resident = std::max(resident, 1.0);
  const double waves = std::ceil(blocks / (board.multiprocessors * resident));
  const double issued = work.issue_cycles / board.warps_issued_per_cycle / busy;
  const double shared_cycles = work.shared_cycles / busy;
  const double bytes = work.sectors * static_cast<double>(kSectorBytes);
  const double memory = bytes / board.gigabytes_per_second * board.gigahertz;
  const double latency = waves * work.longest_warp_cycles;
  const double cycles = std::max({issued, shared_cycles, memory, latency}) +
                        0.25 * (issued + shared_cycles + memory) + kLaunchCycles;
  return cycles / board.gigahertz;
}

}  // namespace emulated_cuda
