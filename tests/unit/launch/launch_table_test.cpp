#include "agent/launch/launch_table.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace idletune;
using namespace idletune::detail;

namespace {

// Null: none.
ShapeSlot* found(const LaunchTable& table, const Shape& shape) {
  const SlotRef slot = table.find(TunerLock::held(), shape, LaunchTable::hash(shape));
  return slot ? &*slot : nullptr;
}

ShapeSlot* add(LaunchTable& table, const Shape& shape) {
  const std::uint64_t hash = LaunchTable::hash(shape);
  ShapeSlot* slot = table.claim(hash);
  if (slot == nullptr) return nullptr;
  slot->shape = shape;
  table.publish(*slot);
  return found(table, shape);
}

}  // namespace

TEST_CASE("a published shape is found and others are not") {
  LaunchTable table(4);
  ShapeSlot* slot = add(table, {64, 32, 16});
  REQUIRE(slot != nullptr);
  CHECK(found(table, {64, 32, 16}) == slot);
  CHECK(found(table, {64, 32}) == nullptr);
  CHECK(found(table, {32, 64, 16}) == nullptr);
  CHECK(table.published() == 1);
  CHECK(table.at(0) == slot);
}

TEST_CASE("a full table refuses further shapes and keeps those it has") {
  LaunchTable table(3);
  for (std::int64_t i = 1; i <= 3; ++i) {
    CHECK_FALSE(table.full());
    CHECK(add(table, {i}) != nullptr);
  }
  CHECK(table.full());
  CHECK(add(table, {4}) == nullptr);
  CHECK(table.full());
  for (std::int64_t i = 1; i <= 3; ++i) CHECK(found(table, {i}) != nullptr);
  CHECK(table.published() == 3);
}

TEST_CASE("a claimed slot that is not published yet is invisible") {
  LaunchTable table(3);
  const Shape shape{7};
  ShapeSlot* slot = table.claim(LaunchTable::hash(shape));
  REQUIRE(slot != nullptr);
  slot->shape = shape;
  CHECK(found(table, shape) == nullptr);
  CHECK(table.published() == 0);
}

TEST_CASE("a slot that is given back expects no launches") {
  LaunchTable table(1);
  ShapeSlot* slot = add(table, {7});
  REQUIRE(slot != nullptr);
  table.unlist(*slot);
  slot->said_launches = 1e9;
  table.give_back(*slot);
  slot = add(table, {8});
  REQUIRE(slot != nullptr);
  CHECK(slot->said_launches == -1);
}

TEST_CASE("threads that add the same shapes at once agree on the slots afterwards") {
  constexpr std::int64_t kShapes = 200;
  LaunchTable table(2 * kShapes);
  std::vector<std::thread> threads;
  std::atomic<int> missing{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::int64_t i = 1; i <= kShapes; ++i) {
        const Shape shape{i, 3};
        if (found(table, shape) == nullptr) add(table, shape);
        if (found(table, shape) == nullptr) ++missing;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // A table of twice the number of shapes may still fill up with doubles of four threads; what was
  // found once stays found.
  for (std::int64_t i = 1; i <= kShapes; ++i) {
    const Shape shape{i, 3};
    ShapeSlot* first = found(table, shape);
    if (first == nullptr) continue;
    CHECK(first->shape == shape);
    CHECK(found(table, shape) == first);
  }
  CHECK(missing.load() < kShapes);
}

TEST_CASE("a lane is given to one launch at a time") {
  Lanes lanes(2);
  const std::uint32_t a = lanes.take();
  const std::uint32_t b = lanes.take();
  CHECK(a != b);
  lanes.give(a);
  CHECK(lanes.take() == a);
  lanes.give(a);
  lanes.give(b);
}

TEST_CASE("quiescence waits for the launches of then and not for later ones") {
  Lanes lanes(2);
  const std::uint32_t a = lanes.take();
  Lanes::Quiescence quiescence(lanes);
  CHECK_FALSE(quiescence.reached(lanes));
  const std::uint32_t later = lanes.take();
  lanes.give(a);
  CHECK(quiescence.reached(lanes));
  lanes.give(later);
  Lanes::Quiescence idle(lanes);
  CHECK(idle.reached(lanes));
}

TEST_CASE("a replaced object is never freed under a reader") {
  Lanes lanes(3);
  struct Object {
    std::atomic<int> alive{1};
  };
  std::atomic<Object*> current{new Object};
  std::atomic<bool> stop{false};
  std::atomic<int> dead_reads{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop.load()) {
        const std::uint32_t lane = lanes.take();
        Object* object = current.load(std::memory_order_seq_cst);
        if (object->alive.load() != 1) ++dead_reads;
        lanes.give(lane);
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    Object* old = current.exchange(new Object, std::memory_order_seq_cst);
    Lanes::Quiescence quiescence(lanes);
    while (!quiescence.reached(lanes)) std::this_thread::yield();
    old->alive.store(0);
    delete old;
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  CHECK(dead_reads.load() == 0);
  delete current.load();
}
