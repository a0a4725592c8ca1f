#include <limits>

#include <doctest/doctest.h>

#include "agent/lab/history_table.hpp"

using namespace idletune;

TEST_CASE("a history becomes a table that a replayed device can play") {
  History history;
  history.kernel = "k";
  history.device = "Board";
  history.nanoseconds_per_unit = 1e6;
  history.parameters.emplace_back("x");
  for (int i = 0; i < 3; ++i) history.parameters[0].push_integer(i);
  const double none = std::numeric_limits<double>::quiet_NaN();
  history.status = {TrialStatus::correct, TrialStatus::compile, TrialStatus::correct};
  history.run_time = {2.0, none, 3.0};
  history.compile_time = {10.0, 30.0, none};
  history.sample_count = {2, 0, 0};
  history.samples = {1.5, 2.5};
  const auto table = table_of(history);
  REQUIRE(table.ok());
  CHECK(table->size() == 3);
  CHECK(table->device().name == "Board");
  replay::TableEntry entry;
  REQUIRE(table->find(Configuration{0}, entry));
  REQUIRE(entry.samples.size() == 2);
  CHECK(entry.samples[1] == Nanoseconds(2500000));
  CHECK(entry.compile_time == Nanoseconds(10000000));
  REQUIRE(table->find(Configuration{1}, entry));
  CHECK(entry.status == TrialStatus::compile);
  REQUIRE(table->find(Configuration{2}, entry));
  CHECK(entry.samples[0] == Nanoseconds(3000000));
  CHECK(entry.compile_time == Nanoseconds(20000000));  // the median of the others
  CHECK_FALSE(table->find(Configuration{3}, entry));
}
