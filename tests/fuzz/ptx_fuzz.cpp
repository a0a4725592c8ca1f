// PTX for the emulated CUDA device. What is accepted also runs for a while, on memory of 4 KiB, and
// whatever it does is found before it happens.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/emulated_cuda/launch.hpp"
#include "tests/emulated_cuda/problem.hpp"
#include "tests/emulated_cuda/ptx_parser.hpp"

using namespace emulated_cuda;

namespace {

// Larger kernels cost only memory.
bool is_small(const Kernel& kernel) {
  return kernel.register_bytes < 1 << 20 && kernel.local_bytes < 1 << 12 &&
         kernel.constant_bytes < 1 << 20;
}

void run(const Kernel& kernel, const LoadedModule& loaded, DeviceMemory& memory, Findings& findings,
         Turn& turn) {
  Launch launch;
  launch.kernel = &kernel;
  launch.grid[0] = 2;
  launch.block[0] = 40;
  launch.parameters.resize(kernel.parameter_bytes);
  const std::uint64_t address = memory.allocate(4096);
  for (const Parameter& parameter : kernel.parameters) {
    if (parameter.bytes != sizeof address) continue;
    std::memcpy(launch.parameters.data() + parameter.offset, &address, sizeof address);
  }
  if (!is_small(kernel) || !over_limits(default_board(), launch).empty()) return;
  turn.take();
  try {
    run_kernel(launch, loaded, memory, findings, turn);
  } catch (const Problem& problem) {
    if (problem.error == 0 || problem.text.empty()) std::abort();
  }
  turn.give_back();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto module = parse_ptx({reinterpret_cast<const char*>(data), size});
    DeviceMemory memory(std::uint64_t{1} << 28);
    Findings findings("/dev/null");
    Turn turn;
    turn.end_all();  // kernels end after some thousand instructions
    const LoadedModule loaded = load_module(*module, memory);
    for (const auto& kernel : module->kernels) run(*kernel, loaded, memory, findings, turn);
    unload_module(loaded, memory);
  } catch (const Problem& problem) {
    if (problem.error == 0 || problem.text.empty()) std::abort();
  }
  return 0;
}
