#include "models/host/offload/analysis/loop_dependences.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace idletune::offload;

namespace {

// A function whose entry is block 0, with a loop of blocks 1 (header) and 2 (body), and in that a
// loop of blocks 3 and 4; block 5 is behind both. A function that is called: 6 (entry), and a loop
// of 7 and 8.
class Nest {
 public:
  std::vector<Loop> loops{{Loop::kNone, 1, Carried::nothing, {}},
                          {0, 3, Carried::nothing, {}},
                          {Loop::kNone, 7, Carried::nothing, {}}};
  std::vector<BlockPlace> blocks{{0, true, Loop::kNone}, {0, false, 0}, {0, false, 0},
                                 {0, false, 1},          {0, false, 1}, {0, false, Loop::kNone},
                                 {1, true, Loop::kNone}, {1, false, 2}, {1, false, 2}};
  static std::vector<std::uint64_t> only(std::size_t block) {
    std::vector<std::uint64_t> operations(9, 0);
    operations[block] = 100;
    return operations;
  }
  // All operations are in that block.
  static Iterations judge(const LoopDependences& watch, std::size_t block) {
    return watch.judge(std::vector<std::uint64_t>(9, 1), only(block));
  }
};

constexpr std::uint64_t kA = 0x1000;

}  // namespace

TEST_CASE("a loop in which no iteration reads what another one wrote is independent") {
  const Nest nest;
  LoopDependences watch(nest.loops, nest.blocks);
  CHECK(Nest::judge(watch, 2) == Iterations::unknown);
  watch.enter(0);
  for (std::uint64_t i = 0; i < 40; ++i) {
    watch.enter(1);
    watch.enter(2);
    watch.load(kA + 4 * i, false);
    watch.store(kA + 4 * i);
    watch.load(kA + 4 * i, false);  // its own
  }
  watch.enter(1);
  watch.enter(5);
  CHECK(Nest::judge(watch, 2) == Iterations::independent);
  CHECK(Nest::judge(watch, 5) == Iterations::unknown);  // no loop
}

TEST_CASE("a load of what an earlier iteration stored makes a loop dependent, an update does not") {
  for (const bool updates : {false, true}) {
    const Nest nest;
    LoopDependences watch(nest.loops, nest.blocks);
    watch.enter(0);
    for (std::uint64_t i = 0; i < 40; ++i) {
      watch.enter(1);
      watch.enter(2);
      watch.load(kA, updates);
      watch.store(kA);
    }
    CHECK(Nest::judge(watch, 2) == (updates ? Iterations::reduction : Iterations::dependent));
  }
}

TEST_CASE("the loop whose iterations part store and load is the dependent one") {
  // Steps in time over a row: each reads what the step before wrote; within a step nothing does.
  const Nest nest;
  LoopDependences watch(nest.loops, nest.blocks);
  watch.enter(0);
  for (std::uint64_t step = 0; step < 20; ++step) {
    watch.enter(1);
    watch.enter(2);
    for (std::uint64_t i = 0; i < 20; ++i) {
      watch.enter(3);
      watch.enter(4);
      watch.load(kA + 4096 * (step % 2) + 4 * i, false);
      watch.store(kA + 4096 * ((step + 1) % 2) + 4 * i);
    }
    watch.enter(3);
  }
  CHECK(Nest::judge(watch, 4) == Iterations::independent);
  CHECK(Nest::judge(watch, 2) == Iterations::dependent);
}

TEST_CASE("few iterations are no parallel work, and those around each other count together") {
  const Nest nest;
  for (const std::uint64_t inner : {2, 8}) {
    LoopDependences watch(nest.loops, nest.blocks);
    watch.enter(0);
    for (std::uint64_t i = 0; i < 3; ++i) {
      watch.enter(1);
      watch.enter(2);
      for (std::uint64_t k = 0; k < inner; ++k) {
        watch.enter(3);
        watch.enter(4);
      }
      watch.enter(3);
    }
    watch.enter(1);
    watch.enter(5);
    CHECK(Nest::judge(watch, 4) == (inner == 8 ? Iterations::independent : Iterations::unknown));
  }
}

TEST_CASE("what is called in a loop belongs to its iterations, and ends with the call") {
  const Nest nest;
  LoopDependences watch(nest.loops, nest.blocks);
  watch.enter(0);
  for (std::uint64_t i = 0; i < 20; ++i) {
    watch.enter(1);
    watch.enter(2);
    watch.enter(6);
    for (std::uint64_t k = 0; k < 2; ++k) {
      watch.enter(7);
      watch.enter(8);
      watch.store(kA + 64 * i + 4 * k);
    }
    watch.enter(7);
    watch.enter(2);  // back; the callee's loop is over
    watch.load(kA + 64 * i, false);
  }
  CHECK(Nest::judge(watch, 8) == Iterations::independent);  // by the loop around the call
  watch.restart();
  watch.enter(2);  // a burst that begins within the loop
  watch.load(kA, false);
  CHECK(Nest::judge(watch, 2) == Iterations::independent);
}

TEST_CASE("registers that carry a value say so without being seen") {
  Nest nest;
  nest.loops[0].carried = Carried::value;
  nest.loops[1].carried = Carried::reduction;
  LoopDependences watch(nest.loops, nest.blocks);
  CHECK(Nest::judge(watch, 2) == Iterations::dependent);
  watch.enter(0);
  for (std::uint64_t i = 0; i < 3; ++i) {
    watch.enter(1);
    for (std::uint64_t k = 0; k < 40; ++k) watch.enter(3);
  }
  CHECK(Nest::judge(watch, 4) == Iterations::reduction);
}

TEST_CASE("how often a loop iterates is counted where bursts are shorter than its iterations") {
  Nest nest;
  nest.loops[0].latches = {2};
  LoopDependences watch(nest.loops, nest.blocks);
  std::vector<std::uint64_t> runs(9, 1);
  runs[1] = 505;  // five times, of a hundred iterations
  runs[2] = 500;
  CHECK(watch.judge(runs, Nest::only(2)) == Iterations::unknown);  // never seen
  for (int burst = 0; burst < 3; ++burst) {
    watch.restart();
    watch.enter(1);
    watch.enter(2);
    watch.enter(1);
  }
  CHECK(watch.judge(runs, Nest::only(2)) == Iterations::independent);
  CHECK(Nest::judge(watch, 2) == Iterations::unknown);  // two at a time
}
