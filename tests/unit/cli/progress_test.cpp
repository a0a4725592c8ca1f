#include <doctest/doctest.h>

#include "agent/host/cli/progress.hpp"

using namespace idletune::cli;
using namespace std::chrono_literals;

TEST_CASE("durations are written with the unit that suits them") {
  CHECK(readable(0ns) == "0 ns");
  CHECK(readable(870ns) == "870 ns");
  CHECK(readable(12500ns) == "12.5 us");
  CHECK(readable(8ms) == "8.00 ms");
  CHECK(readable(2500ms) == "2.50 s");
  CHECK(readable(999960ns) == "1.00 ms");
  CHECK(readable(59960ms) == "1 min 00 s");
  CHECK(readable(125s) == "2 min 05 s");
  CHECK(readable(70min) == "1 h 10 min");
  CHECK(readable(26h) == "26 h 00 min");
}
