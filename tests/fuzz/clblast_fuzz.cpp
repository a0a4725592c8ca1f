// Importing anything as CLBlast's tuner results.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/import_checks.hpp"

using namespace idletune;
using namespace idletune::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_imported(import_clblast(text_of(data, size), "k-d.json"), "k-d.json");
  return 0;
}
