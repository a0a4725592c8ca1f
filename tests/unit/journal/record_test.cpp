#include <doctest/doctest.h>

#include <string>

#include "agent/journal/record.hpp"
#include "agent/journal/summary.hpp"
#include "tests/unit/required.hpp"

namespace idletune::journal {
namespace {

const Payload kFirst{1, 2, 3};
const Payload kSecond{4, 5, 6, 7, 8};
const Payload kThird{};

void add(std::uint8_t type, const Payload& payload, Payload& file, std::uint64_t generation = 9) {
  append_record(type, kRecordVersion, payload, generation, file.size(), file);
}

Payload three_records() {
  Payload file;
  append_file_header({kFormatVersion, 9}, file);
  add(200, kFirst, file);
  add(201, kSecond, file);
  add(202, kThird, file);
  return file;
}

std::size_t count_records(const Payload& file) {
  std::size_t count = 0;
  const Status status = for_each_record(file, [&](const RecordView&) { ++count; });
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  return count;
}

TEST_CASE("records are read back with their offsets, in order") {
  const Payload file = three_records();
  CHECK(file.size() == kFileHeaderBytes + 3 * kRecordHeaderBytes + 8);
  std::vector<std::uint64_t> offsets;
  std::vector<Payload> payloads;
  REQUIRE(for_each_record(file, [&](const RecordView& record) {
            offsets.push_back(record.offset);
            payloads.emplace_back(record.payload.begin(), record.payload.end());
            CHECK(record.type == 199 + offsets.size());
            CHECK(record.version == kRecordVersion);
          }).ok());
  CHECK(offsets == std::vector<std::uint64_t>{24, 35, 48});
  CHECK(payloads == std::vector<Payload>{kFirst, kSecond, kThird});
}

TEST_CASE("the header's bytes are as documented") {
  Payload file;
  append_file_header({kFormatVersion, 0x0102030405060708ull}, file);
  const Payload expected{0x89, 'I', 'T', 'J', 'R', 'N', 'L', '\n', 1, 0,
                         0,    0,   8,   7,   6,   5,   4,   3,    2, 1};
  REQUIRE(file.size() == kFileHeaderBytes);
  CHECK(Payload(file.begin(), file.begin() + 20) == expected);
  const auto header = required(read_file_header(file));
  CHECK(header.generation == 0x0102030405060708ull);
}

TEST_CASE("a file cut anywhere keeps the records before the cut") {
  const Payload file = three_records();
  for (std::size_t size = kFileHeaderBytes; size <= file.size(); ++size) {
    const Payload cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(count_records(cut) == (size >= 56 ? 3 : size >= 48 ? 2 : size >= 35 ? 1 : 0));
  }
  for (std::size_t size = 0; size < kFileHeaderBytes; ++size) {
    const Payload cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(read_file_header(cut).code() == StatusCode::corrupt);
  }
}

TEST_CASE("any changed bit ends the log before its record") {
  const Payload file = three_records();
  for (std::size_t byte = 0; byte < file.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      Payload changed = file;
      changed[byte] = static_cast<std::uint8_t>(changed[byte] ^ (1 << bit));
      if (byte < kFileHeaderBytes) {
        CHECK_FALSE(read_file_header(changed).ok());
      } else {
        CHECK(count_records(changed) == (byte >= 48 ? 2 : byte >= 35 ? 1 : 0));
      }
    }
  }
}

TEST_CASE("a zero-filled tail is dropped and the rest is kept") {
  Payload file = three_records();
  file.resize(file.size() + 4096, 0);
  const auto summary = required(read_journal(file));
  CHECK(summary.records == 3);
  CHECK(summary.valid_bytes == 56);
  CHECK(summary.dropped_bytes() == 4096);
}

TEST_CASE("a record of another generation or from another place is not taken") {
  Payload file = three_records();
  Payload stale = file;
  add(203, kFirst, stale, 8);
  CHECK(count_records(stale) == 3);
  Payload moved = file;
  append_record(203, kRecordVersion, kFirst, 9, file.size() + 1, moved);
  CHECK(count_records(moved) == 3);
  add(203, kFirst, file);
  CHECK(count_records(file) == 4);
}

TEST_CASE("a newer format is refused by its version, other files by their beginning") {
  Payload newer;
  append_file_header({kFormatVersion + 1, 1}, newer);
  CHECK(read_file_header(newer).code() == StatusCode::version_mismatch);
  Payload none;
  append_file_header({0, 1}, none);
  CHECK(read_file_header(none).code() == StatusCode::version_mismatch);
  const std::string text = "this is not a journal at all, is it?";
  const Payload other(text.begin(), text.end());
  CHECK(read_file_header(other).code() == StatusCode::corrupt);
}

TEST_CASE("every known type has a name of its own") {
  for (std::uint8_t a = 1; a < kRecordTypeLimit; ++a) {
    CHECK(std::string(record_type_name(a)) != "unknown");
    for (std::uint8_t b = 1; b < a; ++b) {
      CHECK(std::string(record_type_name(a)) != record_type_name(b));
    }
  }
  CHECK(std::string(record_type_name(0)) == "unknown");
  CHECK(std::string(record_type_name(kRecordTypeLimit)) == "unknown");
}

}  // namespace
}  // namespace idletune::journal
