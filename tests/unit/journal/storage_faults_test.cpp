// The storage fills up, becomes read-only or fails at any operation.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "agent/journal/journal.hpp"
#include "tests/unit/journal/faulty_storage.hpp"
#include "tests/unit/journal/log_history.hpp"
#include "tests/unit/journal/tuning_scenario.hpp"

namespace idletune::journal {
namespace {

using test::Cut;
using test::Files;
using test::PowerCutter;

// Runs the same scenario with and without faults: what is in memory must not depend on the storage.
void fail_everywhere(StatusCode code, std::uint64_t fault_count) {
  const auto healthy = std::make_shared<Disk>();
  Scenario expected(healthy, 11, false);
  expected.run(70);
  const std::uint64_t changes = healthy->changes;
  std::uint64_t degraded = 0;
  for (std::uint64_t first = 0; first < changes; ++first) {
    CAPTURE(first);
    const auto disk = std::make_shared<Disk>();
    disk->fault = {first, fault_count, code, code == StatusCode::no_space};
    Scenario scenario(disk, 11, false);
    scenario.run(70);
    Journal& journal = scenario.journal();
    REQUIRE(journal.state().digest() == expected.journal().state().digest());
    if (!journal.storage_status().ok()) {
      ++degraded;
      CHECK(journal.storage_status().code() == code);
      CHECK(journal.durable(journal.intent({trial_of(5, 5, 5), IntentStage::run, true})));
      journal.parked(trial_of(5, 5, 5), Where::helper);
    }
    // Nothing acknowledged is lost in a cut on top of it.
    const History history(*disk);
    PowerCutter cutter(*disk);
    while (!cutter.at_end()) cutter.advance();
    Random random(first);
    for (Cut cut : test::kAllCuts) {
      const Files image = cutter.image(cut, random);
      const Found found = look_at(image);
      REQUIRE(found.readable);
      REQUIRE(all_written(found, history));
      const auto next = open_on(std::make_shared<Disk>(image), 900);
      REQUIRE(next->storage_status().ok());
      REQUIRE(facts_hold(scenario.promises(), cutter.position(), next->state()));
    }
    // When the storage works again, so does the journal, and it has everything.
    disk->fault = {};
    journal.retry_storage(std::chrono::hours(1));
    journal.retry_storage(std::chrono::hours(2));
    REQUIRE(journal.storage_status().ok());
    REQUIRE(journal.shutdown().ok());
    const Found kept = look_at(disk->files());
    REQUIRE(kept.state == journal.state().digest());
  }
  CHECK(degraded > 0);
}

TEST_CASE("a storage that fills up at any operation costs the file and nothing in memory") {
  fail_everywhere(StatusCode::no_space, UINT64_MAX);
}
TEST_CASE(
    "a storage that becomes read-only at any operation costs the file and nothing in memory") {
  fail_everywhere(StatusCode::read_only, UINT64_MAX);
}
TEST_CASE("a storage that fails once at any operation costs the file and nothing in memory") {
  fail_everywhere(StatusCode::io_error, 1);
}
TEST_CASE("a storage that fails for good at any operation costs the file and nothing in memory") {
  fail_everywhere(StatusCode::io_error, UINT64_MAX);
}

}  // namespace
}  // namespace idletune::journal
