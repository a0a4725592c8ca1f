#include "models/host/insight/chosen_member.hpp"

#include <doctest/doctest.h>

using namespace idletune;

TEST_CASE("a family's configuration tells which of its kernels runs, and with what") {
  const std::string row =
      "ALGORITHM=0 row_WG=64 row_UNROLL=2 padded_row_TILE=8 padded_row_LOCAL_A=1";
  const std::string padded =
      "ALGORITHM=1 row_WG=16 row_UNROLL=1 padded_row_TILE=4 padded_row_LOCAL_A=0";
  CHECK(chosen_member(row)->name == "row");
  CHECK(chosen_member(row)->parameters == "WG=64 UNROLL=2");
  CHECK(chosen_member(padded)->name == "padded_row");
  CHECK(with_chosen_member(padded) == "padded_row: TILE=4 LOCAL_A=0");
  CHECK(with_chosen_member("ALGORITHM=1 fast_wide_step=4 slow_wide_step=2") == "slow: wide_step=2");
  CHECK(with_chosen_member("ALGORITHM=1 tile_row_WG=1 tile_padded_T=4") == "tile_padded: T=4");
  CHECK(with_chosen_member("VARIANT=0 tile_row_WG=1 tile_padded_T=4") == "tile_row: WG=1");
  // A member without parameters after all that have some.
  CHECK(with_chosen_member("ALGORITHM=2 row_WG=16 padded_TILE=4") == "member 2: ");
}

TEST_CASE("a configuration of no family is shown as it is") {
  for (const char* text : {"MWG=64 NWG=32", "", "ALGORITHM=1", "ALGORITHM=fast a_B=1",
                           "ALGORITHM=1 WG=64 a_B=2", "ALGORITHM=99999999999999999999999 a_B=2"}) {
    CAPTURE(text);
    CHECK(!chosen_member(text));
    CHECK(with_chosen_member(text) == text);
  }
}
