#include <doctest/doctest.h>

#include "platform/board/board.hpp"

using idletune::blocks_tuning;
using idletune::BoardLimits;
using idletune::BoardState;

TEST_CASE("a board without sensors blocks nothing, whatever the limits") {
  BoardLimits strict;
  strict.min_battery = 1;
  strict.max_gpu_load = 0;
  strict.min_thermal_margin_c = 100;
  strict.require_mains = true;
  CHECK(!blocks_tuning(BoardState(), strict));
}

TEST_CASE("an empty battery blocks only while it is the source") {
  BoardLimits limits;
  limits.min_battery = 0.3;
  BoardState state;
  state.battery = 0.29;
  CHECK(blocks_tuning(state, limits) == "battery low");
  state.on_mains = false;
  CHECK(blocks_tuning(state, limits) == "battery low");
  state.on_mains = true;
  CHECK(!blocks_tuning(state, limits));
  state.on_mains = false;
  state.battery = 0.3;
  CHECK(!blocks_tuning(state, limits));
}

TEST_CASE("required mains blocks when it is known to be missing") {
  BoardLimits limits;
  limits.require_mains = true;
  BoardState state;
  state.battery = 1;
  CHECK(!blocks_tuning(state, limits));
  state.on_mains = false;
  CHECK(blocks_tuning(state, limits) == "running on battery");
  state.on_mains = true;
  CHECK(!blocks_tuning(state, limits));
}

TEST_CASE("a margin below the limit blocks, also a negative one") {
  BoardLimits limits;
  limits.min_thermal_margin_c = 5;
  BoardState state;
  state.thermal_margin_c = 5.0;
  CHECK(!blocks_tuning(state, limits));
  state.thermal_margin_c = 4.9;
  CHECK(blocks_tuning(state, limits) == "board too hot");
  state.thermal_margin_c = -3;
  CHECK(blocks_tuning(state, limits) == "board too hot");
}

TEST_CASE("a busy GPU blocks") {
  BoardLimits limits;
  limits.max_gpu_load = 0.2;
  BoardState state;
  state.gpu_load = 0.2;
  CHECK(!blocks_tuning(state, limits));
  state.gpu_load = 0.21;
  CHECK(blocks_tuning(state, limits) == "GPU busy");
}
