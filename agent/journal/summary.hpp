// Reading a journal's bytes without a Journal: for `idletune inspect` and for tests. Changes
// nothing.
#pragma once

#include <array>
#include <cstdint>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "agent/journal/record.hpp"
#include "agent/journal/state.hpp"

namespace idletune::journal {

struct JournalSummary {
  FileHeader header;
  std::uint64_t file_bytes = 0;
  std::uint64_t valid_bytes = 0;  // up to the end of the last good record
  std::uint64_t records = 0;      // all of them, unknown and malformed ones included
  std::uint64_t unknown_records = 0;
  std::uint64_t malformed_records = 0;
  std::array<std::uint64_t, kRecordTypeLimit> records_by_type{};  // index: RecordType
  // As the records leave it: open trials are open, no death is judged.
  State state;
  std::uint64_t dropped_bytes() const { return file_bytes - valid_bytes; }
};

// Errors: those of read_file_header. A torn tail is no error: it shows in dropped_bytes().
Result<JournalSummary> read_journal(Bytes file);

// Visits the good records in the order of the file. Errors: those of read_file_header.
Status for_each_record(Bytes file, const Visitor<const RecordView&>& visit);

}  // namespace idletune::journal
