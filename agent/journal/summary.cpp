#include "agent/journal/summary.hpp"

namespace idletune::journal {

Status for_each_record(Bytes file, const Visitor<const RecordView&>& visit) {
  const Result<FileHeader> header = read_file_header(file);
  if (!header.ok()) return header.status();
  RecordReader reader(file, header->generation);
  RecordView record;
  while (reader.next(record)) visit(record);
  return Status();
}

Result<JournalSummary> read_journal(Bytes file) {
  const Result<FileHeader> header = read_file_header(file);
  if (!header.ok()) return header.status();
  JournalSummary summary;
  summary.header = *header;
  summary.file_bytes = file.size();
  RecordReader reader(file, header->generation);
  RecordView record;
  while (reader.next(record)) {
    ++summary.records;
    if (record.type < kRecordTypeLimit) ++summary.records_by_type[record.type];
    switch (summary.state.apply(record.type, record.version, record.payload)) {
      case Replayed::understood: break;
      case Replayed::unknown_type: ++summary.unknown_records; break;
      case Replayed::malformed: ++summary.malformed_records; break;
    }
  }
  summary.valid_bytes = reader.offset();
  return summary;
}

}  // namespace idletune::journal
