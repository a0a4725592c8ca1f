#include "agent/launch/launch_trace.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using namespace idletune;
using idletune::detail::LaunchTrace;
using Place = idletune::detail::LaunchTrace::Place;
using namespace std::chrono_literals;

namespace {

// Outlives the sessions that a test plays.
std::unique_ptr<LaunchTrace::Page> page_in_memory() {
  return std::make_unique<LaunchTrace::Page>();
}

}  // namespace

TEST_CASE("the next session is told who had begun and not ended") {
  const auto page = page_in_memory();
  {
    LaunchTrace trace(*page, 1);
    CHECK(trace.unended().empty());
    trace.looked(90s);
    const std::uint32_t well = trace.begin(Place::launches, 7, 8, 100s);
    (void)trace.begin(Place::launches, 5, 6, 101s);
    CHECK(trace.begun(well) == 100s);
    trace.end(well);
  }
  LaunchTrace trace(*page, 2);
  REQUIRE(trace.unended().size() == 1);
  const LaunchTrace::Unended& found = trace.unended()[0];
  CHECK(found.place == Place::launches);
  CHECK(found.who == 5);
  CHECK(found.shape == 6);
  CHECK(found.begun == 101s);
  CHECK(found.looked_before == 90s);
}

TEST_CASE("what is not on record yet is told again after a second death") {
  const auto page = page_in_memory();
  (void)LaunchTrace(*page, 1).begin(Place::here, 5, 6, 1s);
  (void)LaunchTrace(*page, 2).begin(Place::launches, 7, 8, 2s);
  {
    LaunchTrace third(*page, 3);
    CHECK(third.unended().size() == 2);
    const std::uint32_t own = third.begin(Place::launches, 9, 9, 3s);
    third.forget();
    CHECK(third.unended().empty());
    CHECK(third.begun(own) == 3s);
  }
  LaunchTrace last(*page, 4);
  REQUIRE(last.unended().size() == 1);
  CHECK(last.unended()[0].who == 9);
}

TEST_CASE("whoever finds no cell is told so, and cells come back") {
  const auto page = page_in_memory();
  LaunchTrace trace(*page, 1);
  std::vector<std::uint32_t> cells;
  for (std::uint32_t i = LaunchTrace::kTunersCells; i < LaunchTrace::kCells; ++i) {
    cells.push_back(trace.begin(Place::launches, i, i, 1s));
    CHECK(cells.back() != LaunchTrace::kNoCell);
  }
  CHECK(trace.begin(Place::launches, 1, 1, 1s) == LaunchTrace::kNoCell);
  trace.end(LaunchTrace::kNoCell);  // does nothing
  trace.end(cells[40]);
  CHECK(trace.begin(Place::launches, 1, 1, 1s) == cells[40]);
  // Launches leave the tuner its own.
  CHECK(trace.begin(Place::helper, 1, 1, 1s) != LaunchTrace::kNoCell);
}

TEST_CASE("an unended launch accuses where somebody would have seen it end") {
  LaunchTrace::Unended found;
  found.place = Place::launches;
  found.begun = 100s;
  found.looked_before = 98s;
  CHECK(found.accuses(160s));
  CHECK_FALSE(found.accuses(161s));
  found.looked_before = 99s;
  CHECK(found.accuses(1000s));
  found.looked_before = 105s;
  CHECK(found.accuses(1000s));
  found.looked_before = 0s;
  found.place = Place::helper;
  CHECK(found.accuses(1000s));
}

TEST_CASE("launches without a slot are proven together, and each new shape begins anew") {
  const auto page = page_in_memory();
  LaunchTrace trace(*page, 1);
  const auto begun = [&] {
    std::size_t count = 0;
    for (const LaunchTrace::Cell& cell : page->cells) count += cell.begun != 0;
    return count;
  };
  {
    const detail::UnslottedProof proof;
    CHECK(proof.begin(trace, 7, 1, 1s));
    CHECK(proof.begin(trace, 7, 2, 2s));
    CHECK(begun() == 1);
    proof.look(10s);
    CHECK(begun() == 1);
    proof.look(11s);
    CHECK(begun() == 0);
    CHECK(proof.begin(trace, 7, 1, 12s));
    CHECK(proof.begin(trace, 7, 2, 12s));
    CHECK(begun() == 0);
    CHECK(proof.begin(trace, 7, 3, 12s));
    CHECK(begun() == 1);
    CHECK(LaunchTrace(*page, 2).unended()[0].shape == 3);
    CHECK(proof.begin(trace, 7, 4, 22s));  // long after
    CHECK(begun() == 1);
    CHECK(LaunchTrace(*page, 2).unended()[0].shape == 4);
    while (trace.begin(Place::launches, 1, 1, 1s) != LaunchTrace::kNoCell) {
    }
    const detail::UnslottedProof other;
    CHECK_FALSE(other.begin(trace, 8, 1, 22s));
  }
}

TEST_CASE("a page that is no trace accuses nobody") {
  const auto page = page_in_memory();
  for (LaunchTrace::Cell& cell : page->cells) {
    cell.state = 77;
    cell.begun = 77;
  }
  LaunchTrace trace(*page, 1);
  CHECK(trace.unended().empty());
  CHECK(trace.begin(Place::launches, 1, 1, 1s) != LaunchTrace::kNoCell);
  // Nor a cell that was being written.
  page->cells[3].state = 1;
  page->cells[3].who = 4;
  page->cells[3].begun = 0;
  LaunchTrace next(*page, 2);
  CHECK(next.unended().size() == 1);
}

TEST_CASE("threads begin and end at once, each in a cell of its own") {
  const auto page = page_in_memory();
  LaunchTrace trace(*page, 1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 1; i <= 2000; ++i) {
        const std::uint32_t cell = trace.begin(Place::launches, t, t, Nanoseconds(i));
        if (cell == LaunchTrace::kNoCell) {
          ++wrong;
          continue;
        }
        wrong += page->cells[cell].who != t || trace.begun(cell) != Nanoseconds(i);
        trace.end(cell);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(LaunchTrace(*page, 2).unended().empty());
}
