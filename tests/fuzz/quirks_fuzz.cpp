// The text form of quirk tables. What is accepted must mean the same after being written out again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agent/trial/quirks.hpp"

using namespace idletune;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  QuirkTable table;
  const Status status =
      table.add_text(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!status.ok()) {
    if (table.size() != 0 || status.message().empty()) std::abort();
    return 0;
  }
  const std::string text = table.text();
  QuirkTable again;
  // Each line ends with a line feed now: what barely fits need not fit again.
  if (!again.add_text(text, "again").ok()) {
    if (text.size() <= QuirkTable::kMaxTextBytes) std::abort();
    return 0;
  }
  if (again.size() != table.size() || again.text() != text) std::abort();
  const QuirkSubject::Value values[] = {{"work_group_size", 64}, {"P", -1}};
  const QuirkSubject subject{"gemm", {values, 2}};
  if (table.match(DeviceInfo(), subject) != again.match(DeviceInfo(), subject)) std::abort();
  return 0;
}
