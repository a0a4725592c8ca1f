// What solves left for later ones: notes, or an earlier version's file. What is accepted must be the
// same after being written out again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kernels/krylov/solve_memory.hpp"

using namespace idletune;

namespace {

void check(const krylov::SolveMemory& memory) {
  const std::string text = krylov::text_of(memory);
  const auto again = krylov::memory_in(text);
  if (!again || krylov::text_of(*again) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t key = 0;
  for (std::size_t i = 16; size >= 16 && i > 8; --i) key = key << 8 | data[i - 1];
  const auto memory = krylov::memory_in_file({data, size}, key);
  if (memory.ok()) check(*memory);
  if (!memory.ok() && memory.status().message().empty()) std::abort();
  if (const auto noted = krylov::memory_in(std::string(data, data + size))) check(*noted);
  const std::string marks = krylov::text_of(krylov::marks_in(std::string(data, data + size)));
  if (marks.size() > 3000 || krylov::text_of(krylov::marks_in(marks)) != marks) std::abort();
  return 0;
}
