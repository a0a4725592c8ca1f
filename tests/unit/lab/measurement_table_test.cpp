#include "agent/lab/measurement_table.hpp"

#include <doctest/doctest.h>

using namespace idletune;
using replay::MemoryTable;
using replay::TableEntry;

namespace {

MemoryTable small_table() {
  DeviceInfo device;
  device.name = "board";
  return MemoryTable(device, {"WG", "UNROLL"});
}

}  // namespace

TEST_CASE("a row is found by its configuration") {
  MemoryTable table = small_table();
  REQUIRE(
      table.add({8, 1}, TrialStatus::correct, {Nanoseconds(10), Nanoseconds(12)}, Nanoseconds(500))
          .ok());
  REQUIRE(table.add({16, 1}, TrialStatus::compile, {}, Nanoseconds(300)).ok());
  TableEntry entry;
  REQUIRE(table.find({8, 1}, entry));
  CHECK(entry.status == TrialStatus::correct);
  CHECK(entry.samples.size() == 2);
  CHECK(entry.samples[1] == Nanoseconds(12));
  CHECK(entry.compile_time == Nanoseconds(500));
  REQUIRE(table.find({16, 1}, entry));
  CHECK(entry.status == TrialStatus::compile);
  CHECK(entry.samples.empty());
  CHECK_FALSE(table.find({1, 8}, entry));
  CHECK_FALSE(table.find({8}, entry));
  CHECK(table.device().backend == "replay");
}

TEST_CASE("a second row of the same configuration replaces the first") {
  MemoryTable table = small_table();
  REQUIRE(table.add({8, 1}, TrialStatus::correct, {Nanoseconds(10)}, Nanoseconds(1)).ok());
  REQUIRE(table.add({8, 1}, TrialStatus::correct, {Nanoseconds(20)}, Nanoseconds(2)).ok());
  CHECK(table.size() == 1);
  TableEntry entry;
  REQUIRE(table.find({8, 1}, entry));
  CHECK(entry.samples[0] == Nanoseconds(20));
}

TEST_CASE("rows that make no sense are refused with the reason") {
  MemoryTable table = small_table();
  const Status wrong_size = table.add({8}, TrialStatus::compile, {}, Nanoseconds(0));
  CHECK(wrong_size.code() == StatusCode::invalid_argument);
  CHECK(wrong_size.message() == "row 1 of the table of board: 1 values, expected 2");
  CHECK_FALSE(table.add({8, 1}, TrialStatus::correct, {}, Nanoseconds(0)).ok());
  CHECK_FALSE(table.add({8, 1}, TrialStatus::correct, {Nanoseconds(0)}, Nanoseconds(0)).ok());
  CHECK(table.size() == 0);
}
