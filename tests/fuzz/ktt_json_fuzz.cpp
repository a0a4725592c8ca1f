// Importing anything as KTT results in JSON.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/import_checks.hpp"

using namespace idletune;
using namespace idletune::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_imported(import_ktt_json(text_of(data, size), "k-d.json"), "k-d.json");
  return 0;
}
