// What solves left for later ones. What is accepted must be the same after being written out again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kernels/krylov/solve_memory.hpp"

using namespace idletune;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t key = 0;
  for (std::size_t i = 16; size >= 16 && i > 8; --i) key = key << 8 | data[i - 1];
  const auto memory = krylov::memory_in({data, size}, key);
  if (!memory.ok()) {
    if (memory.status().message().empty()) std::abort();
    return 0;
  }
  const auto again = krylov::memory_in(krylov::bytes_of(*memory, key), key);
  if (!again.ok() || again->iterations != memory->iterations || again->format != memory->format ||
      !same(again->variant, memory->variant) || again->product_us != memory->product_us ||
      again->csr_us != memory->csr_us || again->reverted != memory->reverted)
    std::abort();
  return 0;
}
