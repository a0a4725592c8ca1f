// Importing anything as T4 results.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/import_checks.hpp"

using namespace idletune;
using namespace idletune::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_imported(listed(import_t4(text_of(data, size), "k-d.t4.json")), "k-d.t4.json");
  return 0;
}
