// Importing anything as a Kernel Tuner cache, and as whatever its bytes look like (packed or not).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/import_checks.hpp"

using namespace idletune;
using namespace idletune::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ImportOptions options;
  options.limit_bytes = 1u << 20;
  check_imported(import_histories(Bytes(data, size), "k-d.json", options), "k-d.json");
  check_imported(listed(import_kernel_tuner(text_of(data, size), "k-d.json")), "k-d.json");
  return 0;
}
