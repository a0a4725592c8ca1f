// The power is cut between any two operations of the storage, in four ways, twice in a row.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "agent/journal/journal.hpp"
#include "tests/unit/journal/faulty_storage.hpp"
#include "tests/unit/journal/log_history.hpp"
#include "tests/unit/journal/tuning_scenario.hpp"
#include "tests/unit/repeats.hpp"

namespace idletune::journal {
namespace {

using test::Cut;
using test::DiskOperation;
using test::Files;
using test::PowerCutter;

struct Count {
  std::uint64_t first_cuts = 0;
  std::uint64_t second_cuts = 0;
};

// What comes of an image depends on nothing else: each is opened once, however many cuts leave it.
struct SecondOutcome {
  Found found;
  State state;
};

struct FirstOutcome {
  Found found;
  State state;
  std::shared_ptr<Disk> disk;  // of the session that found it and was used a little
  Promises promises;
  std::unique_ptr<History> history;
  std::map<Files, SecondOutcome> later;
};

SecondOutcome second_outcome(const Files& image, const History& history) {
  SecondOutcome outcome;
  outcome.found = look_at(image);
  REQUIRE(outcome.found.readable);
  REQUIRE(all_written(outcome.found, history));
  const auto journal = open_on(std::make_shared<Disk>(image), 901);
  REQUIRE(journal->storage_status().ok());
  outcome.state = journal->state();
  REQUIRE(journal->shutdown().ok());
  return outcome;
}

FirstOutcome first_outcome(const Files& image, const History& history) {
  FirstOutcome outcome;
  outcome.found = look_at(image);
  REQUIRE(outcome.found.readable);
  REQUIRE(all_written(outcome.found, history));
  outcome.disk = std::make_shared<Disk>(image);
  const auto journal = open_on(outcome.disk, 900);
  REQUIRE(journal->storage_status().ok());
  REQUIRE_FALSE(journal->recovery().set_aside);
  outcome.state = journal->state();
  outcome.promises = use_a_little(outcome.disk, *journal);
  REQUIRE(outcome.promises.facts.size() == 2);
  outcome.history = std::make_unique<History>(*outcome.disk);
  return outcome;
}

// Cuts the power a second time, during the recovery from the first cut or a little later.
void cut_again(FirstOutcome& first, const Promises& promises, std::size_t first_position,
               Random& random, Count& count) {
  PowerCutter cutter(*first.disk);
  const auto position = static_cast<std::size_t>(random.below(first.disk->operations.size() + 1));
  while (cutter.position() < position) cutter.advance();
  Files image = cutter.image(test::kAllCuts[random.below(4)], random);
  ++count.second_cuts;
  auto later = first.later.find(image);
  if (later == first.later.end()) {
    SecondOutcome outcome = second_outcome(image, *first.history);
    later = first.later.emplace(std::move(image), std::move(outcome)).first;
  }
  const SecondOutcome& second = later->second;
  REQUIRE(first.history->allows(second.found.state, position, first.promises));
  REQUIRE(facts_hold(promises, first_position, second.state));
  REQUIRE(facts_hold(first.promises, position, second.state));
}

void cut_everywhere(const Disk& disk, const Promises& promises, std::uint64_t seed, int repeats,
                    Count& count) {
  Random random(seed);
  const History history(disk);
  PowerCutter cutter(disk);
  std::map<Files, FirstOutcome> outcomes;
  for (;;) {
    for (Cut cut : test::kAllCuts) {
      for (int repeat = 0; repeat < repeats; ++repeat) {
        Files image = cutter.image(cut, random);
        ++count.first_cuts;
        CAPTURE(seed);
        CAPTURE(cutter.position());
        CAPTURE(static_cast<int>(cut));
        auto found = outcomes.find(image);
        if (found == outcomes.end()) {
          FirstOutcome outcome = first_outcome(image, history);
          found = outcomes.emplace(std::move(image), std::move(outcome)).first;
        }
        FirstOutcome& first = found->second;
        REQUIRE(history.allows(first.found.state, cutter.position(), promises));
        REQUIRE(facts_hold(promises, cutter.position(), first.state));
        cut_again(first, promises, cutter.position(), random, count);
      }
    }
    if (cutter.at_end()) return;
    cutter.advance();
  }
}

TEST_CASE("a power cut at any operation loses nothing acknowledged and invents nothing") {
  Count count;
  for (std::uint64_t seed = 1; count.first_cuts < test::repeats(100000); ++seed) {
    const auto disk = std::make_shared<Disk>();
    Scenario scenario(disk, seed, true);
    scenario.run(60);
    cut_everywhere(*disk, scenario.promises(), seed, 3, count);
  }
  CHECK(count.second_cuts == count.first_cuts);
  std::printf("figure: journal: %llu power cuts, each followed by a second one, lost nothing\n",
              static_cast<unsigned long long>(count.first_cuts));
}

TEST_CASE("a power cut loses nothing acknowledged where somebody else writes") {
  Count count;
  for (std::uint64_t seed = 1; count.first_cuts < test::repeats(20000); ++seed) {
    const auto disk = std::make_shared<Disk>();
    Scenario scenario(disk, seed, true, true);
    scenario.run(60);
    cut_everywhere(*disk, scenario.promises(), seed, 3, count);
  }
  CHECK(count.second_cuts == count.first_cuts);
}

TEST_CASE("a cut finds the old or the new log while a journal grows past its limits by itself") {
  Count count;
  const auto disk = std::make_shared<Disk>();
  Promises promises;
  {
    JournalOptions options;
    options.boot = 5;
    options.max_file_bytes = 64u << 10;
    const auto journal = Journal::open(test::open_faulty_storage(disk), options);
    Adoption adoption;
    adoption.trial = trial_of(0, 0, 0);
    while (journal->outbox().folder_syncs() < 3) {  // the second compaction has happened
      adoption.expected += nanoseconds(1);
      for (std::size_t i = adoption.trial.configuration.size(); i < kMaxParameters; ++i) {
        adoption.trial.configuration.push_back(INT64_MAX);
      }
      journal->adopted(adoption);
      REQUIRE(journal->storage_status().ok());
      promises.acknowledged.push_back(disk->operations.size());
    }
    CHECK(journal->outbox().file_bytes() < 4096);
  }
  // Only around the compactions: the rest is as above.
  const History history(*disk);
  PowerCutter cutter(*disk);
  Random random(3);
  std::vector<std::size_t> interesting;
  for (std::size_t i = 0; i < disk->operations.size(); ++i) {
    if (disk->operations[i].kind == DiskOperation::Kind::rename) interesting.push_back(i);
  }
  REQUIRE(interesting.size() == 3);
  while (!cutter.at_end()) {
    cutter.advance();
    const bool near = std::any_of(interesting.begin(), interesting.end(), [&](std::size_t at) {
      return cutter.position() + 5 > at && cutter.position() < at + 5;
    });
    if (!near) continue;
    for (Cut cut : test::kAllCuts) {
      for (int repeat = 0; repeat < 8; ++repeat) {
        const Files image = cutter.image(cut, random);
        const Found found = look_at(image);
        REQUIRE(found.readable);
        REQUIRE(history.allows(found.state, cutter.position(), promises));
        REQUIRE(all_written(found, history));
        ++count.first_cuts;
      }
    }
  }
  CHECK(count.first_cuts > 500);
}

// The page cache outlives the process: what the next session finds may not be on the medium yet.
TEST_CASE(
    "a process killed inside any operation leaves a journal that survives the next power cut") {
  std::uint64_t kills = 0;
  Random random(17);
  const std::uint64_t seeds = test::repeats(40);
  for (std::uint64_t seed = 1000; seed < 1000 + seeds; ++seed) {
    for (std::uint64_t first = 0;; ++first) {
      const auto disk = std::make_shared<Disk>();
      disk->fault = {first, UINT64_MAX, StatusCode::internal, random.below(2) == 0};
      Promises promises;
      {
        Scenario scenario(disk, seed, false);
        scenario.run(40);
        promises = scenario.promises();
      }
      if (disk->changes <= first) break;
      disk->fault = {};
      ++kills;
      CAPTURE(seed);
      CAPTURE(first);
      const auto journal = open_on(disk, 900);
      REQUIRE(journal->storage_status().ok());
      REQUIRE(facts_hold(promises, disk->operations.size(), journal->state()));
      const std::size_t opened = disk->operations.size();
      const Promises next = use_a_little(disk, *journal);
      PowerCutter cutter(*disk);
      while (cutter.position() < opened) cutter.advance();
      for (;;) {
        for (Cut cut : test::kAllCuts) {
          const Files image = cutter.image(cut, random);
          const auto after = open_on(std::make_shared<Disk>(image), 901);
          REQUIRE(after->storage_status().ok());
          REQUIRE_FALSE(after->recovery().set_aside);
          REQUIRE(facts_hold(promises, cutter.position(), after->state()));
          REQUIRE(facts_hold(next, cutter.position(), after->state()));
        }
        if (cutter.at_end()) break;
        cutter.advance();
      }
    }
  }
  CHECK(kills > 25 * seeds);
}

}  // namespace
}  // namespace idletune::journal
