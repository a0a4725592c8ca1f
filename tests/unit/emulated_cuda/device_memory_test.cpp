#include "tests/emulated_cuda/device_memory.hpp"

#include <doctest/doctest.h>

#include "tests/emulated_cuda/board.hpp"

using namespace emulated_cuda;

TEST_CASE("an address belongs to the allocation that holds it, and to none in the gap behind") {
  DeviceMemory memory(1 << 20);
  const std::uint64_t first = memory.allocate(400);
  const std::uint64_t second = memory.allocate(100);
  CHECK(first % 512 == 0);
  REQUIRE(memory.find(first + 399) != nullptr);
  CHECK(memory.find(first + 399)->start == first);
  CHECK(memory.find(first + 400) == nullptr);
  CHECK(memory.find(first - 1) == nullptr);
  CHECK(memory.find(second)->bytes == 100);
  CHECK(memory.find(first)->holds(first + 396, 4));
  CHECK(!memory.find(first)->holds(first + 397, 4));
  CHECK(!memory.find(first)->holds(~std::uint64_t{0}, 4));
}

TEST_CASE("what is wrong with an address is told by its distance to what is there or was there") {
  DeviceMemory memory(1 << 20);
  const std::uint64_t first = memory.allocate(400);
  CHECK(memory.describe(first + 404) == "4 behind 400 bytes");
  CHECK(memory.describe(first - 8) == "8 before 400 bytes");
  CHECK(memory.describe(16) == "where nothing is allocated");
  CHECK(memory.release(first));
  CHECK(memory.describe(first + 8) == "at 8 of 400 bytes that were freed");
}

TEST_CASE("freed addresses are not given out again, and are freed once") {
  DeviceMemory memory(1000);
  const std::uint64_t first = memory.allocate(800);
  CHECK(memory.allocate(300) == 0);
  CHECK(!memory.release(first + 4));
  CHECK(memory.release(first));
  CHECK(!memory.release(first));
  CHECK(memory.allocations() == 0);
  CHECK(memory.allocate(800) > first);
  CHECK(memory.allocate(0) == 0);
}

TEST_CASE("marks are made anew when smaller accesses come") {
  DeviceMemory memory(1000);
  Allocation& allocation = *memory.find(memory.allocate(100));
  allocation.provide_marks(4);
  CHECK(allocation.marks.size() == 26);
  allocation.marks[3].writer = 5;
  allocation.provide_marks(8);
  CHECK(allocation.mark_bytes == 4);
  CHECK(allocation.marks[3].writer == 5);
  allocation.provide_marks(2);
  CHECK(allocation.marks.size() == 51);
  CHECK(allocation.marks[3].writer == 0);
}

TEST_CASE("a board is known by its name") {
  CHECK(board_named("jetson_nano")->architecture == 53);
  CHECK(board_named("orin_nano") == &default_board());
  CHECK(board_named("orin") == nullptr);
}
