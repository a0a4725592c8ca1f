// Reading .ithistory bytes; what is read must be writable and come back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "models/host/history/history.hpp"
#include "models/host/insight/fractions.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto histories = idletune::read_histories(idletune::Bytes(data, size), "fuzz");
  if (!histories.ok()) return 0;
  const auto bytes = idletune::write_histories(*histories);
  const auto again = idletune::read_histories(bytes, "again");
  if (!again.ok() || idletune::write_histories(*again) != bytes) std::abort();
  for (const idletune::History& history : *histories) {
    (void)idletune::space_of(history);
    (void)idletune::distribution_of(history).fraction(0.9);
    (void)idletune::problem_text(history);
  }
  return 0;
}
