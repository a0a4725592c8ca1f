// The log's framing: a file header, then records, each with length, type, version and checksum.
// What the payloads mean is codec.hpp's; README.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::journal {

using Payload = std::vector<std::uint8_t>;

// Numbers of up to 8 bytes as they are stored: little-endian.
void put(std::uint64_t value, unsigned bytes, Payload& out);
std::uint64_t get(const std::uint8_t* from, unsigned bytes);

// Stored; the numbers never change and are never used again for something else.
enum class RecordType : std::uint8_t {
  session = 1,
  clean_shutdown = 2,
  intent = 3,
  parked = 4,
  closed = 5,
  quarantine = 6,
  suspect = 7,
  measurement = 8,
  adoption = 9,
  demotion = 10,
  ledger = 11,
  shape_statistics = 12,
  name = 13,
  exposure = 14,
  wrong = 15,
  models = 16
};
inline constexpr std::uint8_t kRecordTypeLimit = 17;  // known types are below
const char* record_type_name(std::uint8_t type);      // "unknown" for a type we do not know

inline constexpr std::uint16_t kFormatVersion = 1;
inline constexpr std::uint8_t kRecordVersion = 1;  // that this code writes
inline constexpr std::size_t kFileHeaderBytes = 24;
inline constexpr std::size_t kRecordHeaderBytes = 8;
inline constexpr std::size_t kMaxPayloadBytes = 4096;
inline constexpr std::size_t kMaxFileBytes = 16u << 20;  // longer files are refused unread

struct FileHeader {
  std::uint16_t version = kFormatVersion;
  std::uint64_t generation = 0;  // one more with each compaction; part of every record's checksum
};

void append_file_header(const FileHeader& header, Payload& out);
// Errors: corrupt (too short, other magic, checksum), version_mismatch (a newer format).
Result<FileHeader> read_file_header(Bytes file);

// Appends the record that will lie at `offset` of a file of `generation`.
void append_record(std::uint8_t type, std::uint8_t version, Bytes payload, std::uint64_t generation,
                   std::uint64_t offset, Payload& out);

struct LogRecord {
  std::uint8_t type = 0;
  std::uint8_t version = kRecordVersion;
  Payload payload;
};
using LogRecords = std::list<LogRecord>;

struct RecordView {
  std::uint64_t offset = 0;  // of its header in the file
  std::uint8_t type = 0;
  std::uint8_t version = 0;
  Bytes payload;  // points into the file's bytes
  std::uint64_t end() const { return offset + kRecordHeaderBytes + payload.size(); }
};

// Walks the records of a file whose header was read. The first record that is cut short or fails
// its checksum ends the log: nothing after it was acknowledged.
class RecordReader {
 public:
  RecordReader(Bytes file, std::uint64_t generation, std::size_t offset = kFileHeaderBytes)
      : file_(file), generation_(generation), offset_(offset) {}
  bool next(RecordView& record);
  // Where the log ends as far as it was read: everything before is good.
  std::uint64_t offset() const { return offset_; }

 private:
  Bytes file_;
  std::uint64_t generation_;
  std::size_t offset_;
};

}  // namespace idletune::journal
