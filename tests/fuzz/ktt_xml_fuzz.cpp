// Importing anything as KTT results in XML.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/import_checks.hpp"

using namespace idletune;
using namespace idletune::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_imported(import_ktt_xml(text_of(data, size), "k-d.xml"), "k-d.xml");
  return 0;
}
