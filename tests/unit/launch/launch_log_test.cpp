// The record of launches that the background tuner reads.
#include <doctest/doctest.h>

#include "agent/launch/kernel_state.hpp"

using namespace idletune;
using namespace idletune::detail;

TEST_CASE("a reader sees what was written since it last looked, in order") {
  LaunchLog log;
  const ShapeSlot slot;
  log.write(Nanoseconds(10), &slot);
  std::uint64_t position = log.end();
  log.write(Nanoseconds(20), &slot);
  log.write(Nanoseconds(30), &slot);

  LaunchLog::Entry entry;
  bool lost = false;
  REQUIRE(log.read(position, entry, lost));
  CHECK(entry.at == Nanoseconds(20));
  CHECK(entry.slot == &slot);
  REQUIRE(log.read(position, entry, lost));
  CHECK(entry.at == Nanoseconds(30));
  CHECK_FALSE(log.read(position, entry, lost));
  CHECK_FALSE(lost);
  CHECK(position == log.end());
}

TEST_CASE("a reader that was too slow is told so and goes on with what is left") {
  LaunchLog log;
  const ShapeSlot slot;
  std::uint64_t position = log.end();
  const std::int64_t count = static_cast<std::int64_t>(LaunchLog::kCapacity) + 5;
  for (std::int64_t i = 0; i < count; ++i) log.write(Nanoseconds(i), &slot);

  LaunchLog::Entry entry;
  bool lost = false;
  REQUIRE(log.read(position, entry, lost));
  CHECK(lost);
  CHECK(entry.at == Nanoseconds(5));
}

TEST_CASE("a launch that is interrupted while it is written hides none of the others") {
  LaunchLog log;
  std::uint64_t position = log.end();
  const std::uint64_t interrupted = log.reserve();
  LaunchLog::Entry entry;
  bool lost = false;
  CHECK_FALSE(log.read(position, entry, lost));
  for (int i = 0; i < 250; ++i) log.write(Nanoseconds(i), nullptr);
  int seen = 0;
  while (log.read(position, entry, lost)) CHECK(entry.at == Nanoseconds(seen++));
  CHECK(seen == 250);
  CHECK_FALSE(lost);
  log.fill(interrupted, Nanoseconds(1000), nullptr);
  CHECK_FALSE(log.read(position, entry, lost));
  log.write(Nanoseconds(251), nullptr);
  REQUIRE(log.read(position, entry, lost));
  CHECK(entry.at == Nanoseconds(251));
}
