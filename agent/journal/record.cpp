#include "agent/journal/record.hpp"

#include <cstring>

#include "models/core/digest.hpp"
#include "models/core/word_list.hpp"

namespace idletune::journal {
namespace {

// A byte above 127 tells the file from text, a line feed catches text-mode copies.
constexpr std::uint8_t kMagic[8] = {0x89, 'I', 'T', 'J', 'R', 'N', 'L', '\n'};
constexpr std::size_t kHeaderChecksumOffset = 20;

// Generation and place are part of the checksum, so that neither a record of an older file on a
// reused block nor one at another place is taken for a record of this file.
std::uint32_t record_checksum(Bytes head, Bytes payload, std::uint64_t generation,
                              std::uint64_t offset) {
  std::uint8_t place[16];
  for (unsigned i = 0; i < 8; ++i) {
    place[i] = static_cast<std::uint8_t>(generation >> (8 * i));
    place[8 + i] = static_cast<std::uint8_t>(offset >> (8 * i));
  }
  return crc32c(payload, crc32c(head, crc32c(Bytes(place))));
}

void append(Bytes bytes, Payload& out) {
  const std::size_t start = out.size();
  out.resize(start + bytes.size());
  if (!bytes.empty()) std::memcpy(out.data() + start, bytes.data(), bytes.size());
}

}  // namespace

void put(std::uint64_t value, unsigned bytes, Payload& out) {
  for (unsigned i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint64_t get(const std::uint8_t* from, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}

const char* record_type_name(std::uint8_t type) {
  return word_of(
      "unknown\0session\0clean_shutdown\0intent\0parked\0closed\0quarantine\0suspect\0"
      "measurement\0adoption\0demotion\0ledger\0shape_statistics\0name\0exposure\0"
      "wrong\0models\0",
      static_cast<unsigned>(type));
}

void append_file_header(const FileHeader& header, Payload& out) {
  const std::size_t start = out.size();
  append(kMagic, out);
  put(header.version, 2, out);
  put(0, 2, out);
  put(header.generation, 8, out);
  put(crc32c(Bytes(out.data() + start, kHeaderChecksumOffset)), 4, out);
}

Result<FileHeader> read_file_header(Bytes file) {
  if (file.size() < kFileHeaderBytes) {
    return {StatusCode::corrupt, "journal: % bytes, expected a header of %", file.size(),
            kFileHeaderBytes};
  }
  if (std::memcmp(file.data(), kMagic, sizeof(kMagic)) != 0) {
    return {StatusCode::corrupt, "journal: the file has no journal's magic number"};
  }
  if (crc32c(file.subspan(0, kHeaderChecksumOffset)) !=
      get(file.data() + kHeaderChecksumOffset, 4)) {
    return {StatusCode::corrupt, "journal: the checksum of the file header is wrong"};
  }
  FileHeader header;
  header.version = static_cast<std::uint16_t>(get(file.data() + 8, 2));
  header.generation = get(file.data() + 12, 8);
  if (header.version == 0 || header.version > kFormatVersion) {
    return {StatusCode::version_mismatch, "journal: format version %, expected 1 to %",
            header.version, kFormatVersion};
  }
  return header;
}

void append_record(std::uint8_t type, std::uint8_t version, Bytes payload, std::uint64_t generation,
                   std::uint64_t offset, Payload& out) {
  const std::size_t start = out.size();
  put(payload.size(), 2, out);
  put(type, 1, out);
  put(version, 1, out);
  put(record_checksum(Bytes(out.data() + start, 4), payload, generation, offset), 4, out);
  append(payload, out);
}

bool RecordReader::next(RecordView& record) {
  const std::size_t left = file_.size() > offset_ ? file_.size() - offset_ : 0;
  if (left < kRecordHeaderBytes) return false;
  const std::uint8_t* head = file_.data() + offset_;
  const std::size_t length = static_cast<std::size_t>(get(head, 2));
  if (length > kMaxPayloadBytes || length > left - kRecordHeaderBytes || head[2] == 0) return false;
  const Bytes payload(head + kRecordHeaderBytes, length);
  if (record_checksum(Bytes(head, 4), payload, generation_, offset_) != get(head + 4, 4))
    return false;
  record.offset = offset_;
  record.type = head[2];
  record.version = head[3];
  record.payload = payload;
  offset_ += kRecordHeaderBytes + length;
  return true;
}

}  // namespace idletune::journal
