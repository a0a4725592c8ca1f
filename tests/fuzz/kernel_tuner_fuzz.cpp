// Importing anything as a Kernel Tuner cache; what is imported must survive the round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "models/history/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  idletune::ImportOptions options;
  options.limit_bytes = 1u << 20;
  const auto histories = idletune::import_histories(idletune::Bytes(data, size), "k-d.json", options);
  if (!histories.ok()) {
    if (histories.status().message().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const idletune::History& history : *histories) {
    const auto bytes = idletune::write_history(history);
    const auto read = idletune::read_history(bytes, "again");
    if (!read.ok() || idletune::write_history(*read) != bytes) std::abort();
  }
  return 0;
}
