#include <doctest/doctest.h>

#include "agent/slots/slot_record.hpp"

using namespace idletune;
using namespace idletune::slots;

TEST_CASE("what is known of models is the same after being kept") {
  SlotRecord record;
  record.confirmed = {11, 4, Place::b};
  record.trial = {12, 5, Place::a};
  record.young_starts = 2;
  record.before = {300, 4};
  record.lowest_generation = 4;
  record.refuted = {7, 8};
  record.reason = "it was slow";
  record.stayed[0] = 9;
  record.stayed[1] = 10;
  const auto bytes = record.encode();
  SlotRecord again;
  REQUIRE(SlotRecord::decode(bytes, again));
  CHECK(again.encode() == bytes);
  CHECK(again.trial.digest == 12);
  CHECK(again.before.trials == 300);
  CHECK(again.before.deaths == 4);
  CHECK(again.reason == "it was slow");
  CHECK(again.may_serve({9, 3, Place::a}));
  CHECK(again.may_serve({10, 3, Place::b}));
  const std::size_t before = bytes.size() - 2 * 8;  // what was kept before there were two of them
  for (std::size_t size = 0; size < before; ++size)
    CHECK_FALSE(SlotRecord::decode(Bytes(bytes).subspan(0, size), again));
  REQUIRE(SlotRecord::decode(Bytes(bytes).subspan(0, before), again));
  CHECK(again.may_serve({11, 4, Place::b}));
  CHECK_FALSE(again.may_serve({9, 3, Place::a}));
  auto later = bytes;
  later.push_back(9);  // a later version appends
  CHECK(SlotRecord::decode(later, again));
  auto wrong = bytes;
  wrong[9] = 3;  // a place that there is not
  CHECK_FALSE(SlotRecord::decode(wrong, again));
}

TEST_CASE("the next model never goes where the confirmed one is") {
  for (const Place confirmed : {Place::image, Place::a, Place::b}) {
    for (const Place trial : {Place::image, Place::a, Place::b}) {
      SlotRecord record;
      record.confirmed = {1, 1, confirmed};
      record.trial = {2, 2, trial};
      CHECK(record.free_slot() != Place::image);
      CHECK(record.free_slot() != confirmed);
      if (confirmed == Place::image) CHECK(record.free_slot() != trial);
    }
  }
}

TEST_CASE("of those that are refuted the newest 32 are known") {
  SlotRecord record;
  for (std::uint64_t digest = 1; digest <= 40; ++digest) {
    record.begin_trial({digest, 1, Place::a}, {});
    record.refute_trial("no");
  }
  CHECK(record.refuted.size() == kMostRefuted);
  CHECK_FALSE(record.is_refuted(8));
  CHECK(record.is_refuted(9));
  CHECK(record.is_refuted(40));
  SlotRecord again;
  CHECK(SlotRecord::decode(record.encode(), again));
}

TEST_CASE("where the only model was rejected, an older one may come in its place") {
  SlotRecord record;
  record.begin_trial({1, 7, Place::a}, {});
  record.confirm();
  CHECK_FALSE(record.admits({2, 6, Place::a}).ok());
  record.refute_confirmed("frames were late", {});
  CHECK(record.admits({2, 6, Place::a}).ok());
  CHECK_FALSE(record.admits({1, 7, Place::a}).ok());
}
