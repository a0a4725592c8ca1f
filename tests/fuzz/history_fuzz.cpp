// Reading .ithistory bytes; what is read must be writable and come back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "models/history/history.hpp"
#include "models/insight/fractions.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto history = idletune::read_history(idletune::Bytes(data, size), "fuzz");
  if (!history.ok()) return 0;
  const auto bytes = idletune::write_history(*history);
  const auto again = idletune::read_history(bytes, "again");
  if (!again.ok() || idletune::write_history(*again) != bytes) std::abort();
  (void)idletune::space_of(*history);
  (void)idletune::distribution_of(*history).fraction(0.9);
  return 0;
}
