#include <doctest/doctest.h>

#include <memory>
#include <vector>

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
  CHECK(s.variants.has_retired());
  s.lanes.give(lane);
  s.variants.reclaim();
  CHECK_FALSE(s.variants.has_retired());
}

TEST_CASE("a variant is kept while a ticket may still name it") {
  Slot s;
  s.variants.publish(std::make_unique<Variant>());
  REQUIRE(s.slot.tickets.post({}, nullptr));
  s.variants.publish(nullptr);
  s.variants.reclaim();
  CHECK(s.variants.has_retired());
  s.slot.tickets.take([](const idletune::detail::WatchTicket&) { return true; });
  s.variants.reclaim();
  CHECK_FALSE(s.variants.has_retired());
}

TEST_CASE("candidates race with their turns, and the last one takes the place of one that leaves") {
  Slot s;
  std::vector<const Variant*> offered;
  for (int i = 0; i < 3; ++i) {
    auto variant = std::make_unique<Variant>();
    offered.push_back(variant.get());
    s.variants.offer(std::move(variant));
    CHECK(s.variants.place_of(offered.back()) == s.variants.racers() - 1);
  }
  s.variants.race(7);
  CHECK(s.slot.race_turns.load() == 7);
  s.variants.retire(s.variants.withdraw(0));
  CHECK(s.slot.racers[0].load() == offered[2]);
  CHECK(s.slot.racers[1].load() == offered[1]);
  CHECK(s.slot.racers[2].load() == nullptr);
  CHECK(s.variants.place_of(offered[0]) == s.variants.racers());
  s.variants.publish(s.variants.withdraw(1));
  CHECK(s.slot.current.load() == offered[1]);
  s.variants.retire(s.variants.withdraw(0));
  CHECK(s.variants.racers() == 0);
  CHECK(s.slot.racers[0].load() == nullptr);
  CHECK(s.variants.has_retired());
}

TEST_CASE("what races takes none of the samples that what was adopted is owed") {
  Slot s;
  s.variants.publish(std::make_unique<Variant>());
  const std::int32_t owed = s.slot.eager_samples.load();
  REQUIRE(owed > 0);
  auto racer = std::make_unique<Variant>();
  const Variant& racing = *racer;
  s.variants.offer(std::move(racer));
  s.slot.took_sample(racing);
  CHECK(s.slot.eager_samples.load() == owed);
  s.slot.took_sample(*s.variants.adopted());
  CHECK(s.slot.eager_samples.load() == owed - 1);
}
