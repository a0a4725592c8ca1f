// Any bytes as a board's journal that is imported: as they are, and as payloads with right
// checksums.
#include <cstddef>
#include <cstdint>

#include "agent/host/explore/journal_history.hpp"
#include "agent/journal/record.hpp"
#include "models/host/insight/fractions.hpp"
#include "tests/fuzz/import_checks.hpp"

namespace {

using namespace idletune;
using journal::Payload;

void use(const Payload& file) {
  const auto histories = explore::histories_of_journal(file, "board");
  fuzz::check_imported(histories, "board");
  if (!histories.ok()) return;
  for (const History& history : *histories) {
    const PerformanceDistribution shares = distribution_of(history);
    fuzz::require(shares.valid <= shares.space && shares.measured <= history.rows());
  }
}

// Type, length in two bytes, payload, over and over.
Payload as_records(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kGeneration = 1;
  Payload file;
  journal::append_file_header({journal::kFormatVersion, kGeneration}, file);
  while (size >= 3) {
    const std::size_t wanted = (data[1] + std::size_t{256} * data[2]) % journal::kMaxPayloadBytes;
    const std::size_t length = wanted < size - 3 ? wanted : size - 3;
    journal::append_record(data[0], journal::kRecordVersion, Bytes(data + 3, length), kGeneration,
                           file.size(), file);
    data += 3 + length;
    size -= 3 + length;
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  use(Payload(data, data + size));
  use(as_records(data, size));
  return 0;
}
