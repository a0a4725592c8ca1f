#include "tests/emulated_cuda/launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/problem.hpp"
#include "tests/emulated_cuda/warp_run.hpp"

namespace emulated_cuda {
namespace {

constexpr unsigned char kUninitialized = 0xff;
constexpr std::size_t kMostLocalBytes = 512 * 1024;  // of a thread, on every GPU

std::vector<CacheLine> constants_of(const Kernel& kernel, const LoadedModule& loaded) {
  std::vector<CacheLine> lines(kernel.constant_bytes / sizeof(CacheLine) + 1);
  auto* bytes = reinterpret_cast<unsigned char*>(lines.data());
  for (const Kernel::Constant& constant : kernel.constants) {
    std::uint64_t value = constant.value;
    if (constant.variable >= 0) {
      value += loaded.addresses[static_cast<std::size_t>(constant.variable)];
    }
    unsigned char* place = bytes + constant.operand.offset;
    if (constant.operand.is_predicate) {
      const auto mask = static_cast<Mask>(value);
      std::memcpy(place, &mask, sizeof mask);
      continue;
    }
    for (int i = 0; i < kWarpThreads; ++i) set_bits(place, constant.operand.is_wide, i, value);
  }
  return lines;
}

struct ThreadNumbers {
  const Launch& launch;
  unsigned threads;
  unsigned thread;  // in the block
};

std::uint32_t special_value(const std::string& name, const ThreadNumbers& of) {
  const Launch& launch = of.launch;
  const unsigned lane = of.thread % kWarpThreads;
  const Mask bit = Mask{1} << lane;
  const std::size_t axis = static_cast<std::size_t>(std::max(name.back() - 'x', 0)) % 3;
  const std::string kind = name.substr(0, name.find('.'));
  if (kind == "%tid") {
    const unsigned place[] = {of.thread % launch.block[0],
                              of.thread / launch.block[0] % launch.block[1],
                              of.thread / launch.block[0] / launch.block[1]};
    return place[axis];
  }
  if (kind == "%ntid") return launch.block[axis];
  if (kind == "%nctaid") return launch.grid[axis];
  if (kind == "%laneid") return lane;
  if (kind == "%warpid") return of.thread / kWarpThreads;
  if (kind == "%nwarpid") return (of.threads + kWarpThreads - 1) / kWarpThreads;
  if (kind == "%lanemask_lt") return bit - 1;
  if (kind == "%lanemask_le") return bit | (bit - 1);
  if (kind == "%lanemask_eq") return bit;
  if (kind == "%lanemask_ge") return ~(bit - 1);
  if (kind == "%lanemask_gt") return ~(bit | (bit - 1));
  return static_cast<std::uint32_t>(launch.dynamic_shared_bytes);
}

class KernelRun {
 public:
  KernelRun(const Launch& launch, const LoadedModule& loaded, DeviceMemory& memory,
            Findings& findings, Turn& turn)
      : launch_(launch), turn_(turn), constants_(constants_of(*launch.kernel, loaded)) {
    static std::atomic<std::uint32_t> launches{0};
    const Kernel& kernel = *launch.kernel;
    block_.launch = &launch;
    block_.kernel = &kernel;
    block_.memory = &memory;
    block_.findings = &findings;
    block_.launch_number = ++launches;
    block_.threads = launch.block[0] * launch.block[1] * launch.block[2];
    block_.shared.resize(kernel.shared_bytes + launch.dynamic_shared_bytes);
    block_.mark_bytes = kernel.least_access_bytes;
    block_.marks.resize(block_.shared.size() / block_.mark_bytes + 1);
    block_.local.resize(kernel.local_bytes * block_.threads);
    block_.local_written.resize(block_.local.size());
    make_warps();
  }

  Work run() {
    const std::uint64_t blocks = std::uint64_t{launch_.grid[0]} * launch_.grid[1] * launch_.grid[2];
    for (std::uint64_t i = 0; i < blocks; ++i) {
      block_.index[0] = static_cast<unsigned>(i % launch_.grid[0]);
      block_.index[1] = static_cast<unsigned>(i / launch_.grid[0] % launch_.grid[1]);
      block_.index[2] = static_cast<unsigned>(i / launch_.grid[0] / launch_.grid[1]);
      // Numbers are kept in 31 bits: blocks that far apart are taken for one.
      block_.number = static_cast<std::uint32_t>(i % 0x7fffffff) + 1;
      begin_block();
      run_block();
    }
    block_.work.launch_number = block_.launch_number;
    return block_.work;
  }

 private:
  void make_warps() {
    const Kernel& kernel = *launch_.kernel;
    warps_.resize((block_.threads + kWarpThreads - 1) / kWarpThreads);
    for (std::size_t k = 0; k < warps_.size(); ++k) {
      Warp& warp = warps_[k];
      warp.block = &block_;
      warp.first_thread = static_cast<unsigned>(k) * kWarpThreads;
      warp.registers.resize(kernel.register_bytes / sizeof(CacheLine) + 1);
      warp.constants = reinterpret_cast<const unsigned char*>(constants_.data());
      warp.written.resize(kernel.marks);
      const unsigned left = block_.threads - warp.first_thread;
      warp.exists = left >= kWarpThreads ? kAllThreads : (Mask{1} << left) - 1;
      for (const auto& [name, operand] : kernel.special_registers) {
        for (int i = 0; i < kWarpThreads; ++i) {
          const unsigned thread = warp.first_thread + static_cast<unsigned>(i);
          set_value(warp.values(operand), i,
                    special_value(name, {launch_, block_.threads, thread}));
        }
      }
    }
  }

  void begin_block() {
    ++block_.interval;
    block_.first_interval = block_.interval;
    std::fill(block_.shared.begin(), block_.shared.end(), kUninitialized);
    std::fill(block_.local.begin(), block_.local.end(), kUninitialized);
    std::fill(block_.local_written.begin(), block_.local_written.end(), 0);
    for (Warp& warp : warps_) {
      warp.left = 0;
      warp.waiting = 0;
      warp.cycles = 0;
      warp.next.fill(0);
      std::fill(warp.written.begin(), warp.written.end(), 0);
      warp.written[0] = kAllThreads;
      set_block_index(warp);
    }
  }

  void set_block_index(Warp& warp) {
    constexpr const char* kNames[] = {"%ctaid.x", "%ctaid.y", "%ctaid.z"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto found = launch_.kernel->special_registers.find(kNames[axis]);
      if (found == launch_.kernel->special_registers.end()) continue;
      for (int i = 0; i < kWarpThreads; ++i) {
        set_value(warp.values(found->second), i, std::uint32_t{block_.index[axis]});
      }
    }
  }

  void run_block() {
    do {
      for (Warp& warp : warps_) run_warp(warp, turn_);
    } while (pass_barrier());
    for (const Warp& warp : warps_) {
      block_.work.longest_warp_cycles = std::max(block_.work.longest_warp_cycles, warp.cycles);
    }
  }

  // Every thread has left or waits. False: all have left.
  bool pass_barrier() {
    int where = -1;
    bool apart = false;
    bool some_left = false;
    double latest = 0;
    Warp* waiting = nullptr;
    for (Warp& warp : warps_) {
      some_left = some_left || warp.left != 0;
      latest = std::max(latest, warp.cycles);
      for (Mask left = warp.waiting; left != 0; left &= left - 1) {
        const int next = warp.next[static_cast<std::size_t>(__builtin_ctz(left))];
        apart = apart || (where >= 0 && next != where);
        where = next;
        waiting = &warp;
      }
    }
    if (waiting == nullptr) return false;
    const Instruction& barrier = launch_.kernel->code[static_cast<std::size_t>(where - 1)];
    const int thread = __builtin_ctz(waiting->waiting);
    if (apart)
      note(*waiting, barrier, thread, "barrier: threads of a block wait at different ones");
    if (some_left) {
      note(*waiting, barrier, thread, "barrier: some threads of the block have left before it");
    }
    for (Warp& warp : warps_) {
      warp.waiting = 0;
      warp.cycles = latest;
    }
    ++block_.interval;
    return true;
  }

  const Launch& launch_;
  Turn& turn_;
  std::vector<CacheLine> constants_;
  Block block_;
  std::vector<Warp> warps_;
};

}  // namespace

void note(Warp& warp, const Instruction& instruction, int thread, const std::string& what) {
  const Block& block = *warp.block;
  const unsigned number = warp.first_thread + static_cast<unsigned>(thread);
  const unsigned* size = block.launch->block;
  block.findings->add({block.kernel,
                       &instruction,
                       {block.index[0], block.index[1], block.index[2]},
                       {number % size[0], number / size[0] % size[1], number / size[0] / size[1]}},
                      what);
}

void stop(Warp& warp, const Instruction& instruction, int thread, int error,
          const std::string& what) {
  note(warp, instruction, thread, what);
  throw Problem{error, warp.block->kernel->name + ": " + what};
}

LoadedModule load_module(const Module& module, DeviceMemory& memory, const void* context) {
  LoadedModule loaded{&module, {}};
  for (const GlobalVariable& variable : module.variables) {
    const std::uint64_t bytes = std::max<std::uint64_t>(variable.initial.size(), 1);
    const std::uint64_t address =
        memory.allocate(bytes, variable.space == Space::constant, context);
    if (address == 0) {
      unload_module(loaded, memory);
      throw Problem{idletune::cuda::kOutOfMemory, "no memory for variable '" + variable.name + "'"};
    }
    Allocation& allocation = *memory.find(address);
    std::copy(variable.initial.begin(), variable.initial.end(), allocation.data.begin());
    std::fill(allocation.written.begin(), allocation.written.end(), 1);
    loaded.addresses.push_back(address);
  }
  return loaded;
}

void unload_module(const LoadedModule& loaded, DeviceMemory& memory) {
  for (const std::uint64_t address : loaded.addresses) memory.release(address);
}

std::uint64_t threads_with_registers(const Board& board, const Kernel& kernel) {
  const bool is_bound = kernel.most_threads != 0 || kernel.exact_threads != 0;
  if (kernel.most_registers == 0 && is_bound) return board.most_threads;
  const std::uint64_t each =
      kernel.most_registers != 0 ? kernel.most_registers : kernel.named_registers + 16;
  const std::uint64_t warps =
      board.registers / (kWarpThreads * ((std::min<std::uint64_t>(each, 255) + 7) / 8 * 8));
  return std::min<std::uint64_t>(warps * kWarpThreads, board.most_threads);
}

std::string over_limits(const Board& board, const Launch& launch) {
  const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  const Kernel& kernel = *launch.kernel;
  const auto more = [&](std::uint64_t asked, const char* what, std::uint64_t most) {
    return kernel.name + ": " + std::to_string(asked) + " " + what + ", " + board.device_name +
           " has " + std::to_string(most);
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (launch.grid[axis] == 0 || launch.block[axis] == 0) return kernel.name + ": no threads";
    if (launch.grid[axis] > board.most_grid[axis]) {
      return more(launch.grid[axis], "blocks along an axis", board.most_grid[axis]);
    }
    if (launch.block[axis] > board.most_block[axis]) {
      return more(launch.block[axis], "threads along an axis", board.most_block[axis]);
    }
  }
  if (threads > board.most_threads) return more(threads, "threads in a block", board.most_threads);
  if (threads > threads_with_registers(board, kernel)) {
    return more(threads, "threads without launch bounds that have registers for sure",
                threads_with_registers(board, kernel));
  }
  const std::uint64_t shared = kernel.shared_bytes + launch.dynamic_shared_bytes;
  if (shared > board.shared_bytes) {
    return more(shared, "bytes of shared memory", board.shared_bytes);
  }
  if (kernel.local_bytes > kMostLocalBytes) {
    return more(kernel.local_bytes, "bytes of local memory for a thread", kMostLocalBytes);
  }
  if (kernel.most_threads != 0 && threads > kernel.most_threads) {
    return kernel.name + ": " + std::to_string(threads) + " threads, its launch bounds say " +
           std::to_string(kernel.most_threads);
  }
  if (kernel.exact_threads != 0 && threads != kernel.exact_threads) {
    return kernel.name + ": " + std::to_string(threads) + " threads, it demands " +
           std::to_string(kernel.exact_threads);
  }
  return {};
}

Work run_kernel(const Launch& launch, const LoadedModule& loaded, DeviceMemory& memory,
                Findings& findings, Turn& turn) {
  return KernelRun(launch, loaded, memory, findings, turn).run();
}

}  // namespace emulated_cuda
