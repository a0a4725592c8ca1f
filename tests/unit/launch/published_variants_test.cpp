#include <doctest/doctest.h>

#include <memory>

#include "agent/launch/published_variants.hpp"

using namespace idletune;
using namespace idletune::detail;

namespace {

struct Slot {
  ShapeSlot slot;
  Lanes lanes{2};
  PublishedVariants variants{slot, lanes};
};

}  // namespace

TEST_CASE("launches see what is published, and the default again after that") {
  Slot s;
  CHECK(&s.variants.running() == &s.slot.fallback);
  auto variant = std::make_unique<Variant>();
  const Variant* published = variant.get();
  s.variants.publish(std::move(variant));
  CHECK(s.slot.current.load() == published);
  CHECK(s.variants.adopted() == published);
  s.variants.publish(nullptr);
  CHECK(s.slot.current.load() == &s.slot.fallback);
  CHECK(s.variants.adopted() == nullptr);
}

TEST_CASE("a variant is kept while a launch that began before may still use it") {
  Slot s;
  s.variants.publish(std::make_unique<Variant>());
  const std::uint32_t lane = s.lanes.take();
  s.variants.publish(nullptr);
  s.variants.reclaim();
  CHECK(s.variants.retired() == 1);
  s.lanes.give(lane);
  s.variants.reclaim();
  CHECK(s.variants.retired() == 0);
}

TEST_CASE("a variant is kept while a ticket may still name it") {
  Slot s;
  s.variants.publish(std::make_unique<Variant>());
  s.slot.ticket_states[1].store(2);
  s.variants.publish(nullptr);
  s.variants.reclaim();
  CHECK(s.variants.retired() == 1);
  s.slot.ticket_states[1].store(0);
  s.variants.reclaim();
  CHECK(s.variants.retired() == 0);
}

TEST_CASE("a candidate is offered with its period and withdrawn for good") {
  Slot s;
  auto variant = std::make_unique<Variant>();
  const Variant* offered = variant.get();
  s.variants.offer(std::move(variant), 7);
  CHECK(s.slot.in_place.load() == offered);
  CHECK(s.slot.in_place_period.load() == 7);
  s.variants.withdraw();
  CHECK(s.slot.in_place.load() == nullptr);
  CHECK(s.slot.in_place_period.load() == 0);
  CHECK(s.variants.retired() == 1);
}
