// Models are pushed, confirmed and gone back from at random, processes die, and the power is cut
// between any two operations of the medium, again during the start that follows.
#include <doctest/doctest.h>

#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/slots/slots_board.hpp"

using namespace idletune;
using idletune::slots::SlotRecord;
using idletune::test::Disk;
using idletune::test::Files;
using idletune::test::PowerCutter;
using idletune::test::SlotProcess;

namespace {

// What was on record after so many operations of the medium.
struct Acknowledged {
  std::size_t operations = 0;
  std::vector<std::uint8_t> record;
};

struct Play {
  explicit Play(std::uint64_t seed) : random(seed) {
    REQUIRE(write_file_atomically(image, test::model_number(0, 1)).ok());
    for (std::int64_t i = 0; i < 40; ++i)
      models.push_back(test::model_number(i + 1, 1 + random.below(12)));
  }
  // Whatever the record says after a cut, the model that it names is there and is what is used.
  void check_start(const SlotProcess& process) {
    SlotRecord record;
    const auto kept = process.kept();
    if (!kept.empty()) REQUIRE(SlotRecord::decode(kept, record));
    if (process.models->newest() == nullptr) {
      // All of them were gone back from.
      CHECK_FALSE(record.confirmed.is_there());
      CHECK_FALSE(record.trial.is_there());
      CHECK_FALSE(record.refuted.empty());
      return;
    }
    if (record.trial.is_there()) {
      CHECK(process.digest() == record.trial.digest);
      CHECK(record.young_starts <= slots::kYoungDeaths);
    } else if (record.confirmed.is_there()) {
      CHECK(process.digest() == record.confirmed.digest);
      CHECK(process.models->newest()->generation() >= record.lowest_generation);
    }
    CHECK_FALSE(record.is_refuted(process.digest()));
  }
  // Some moments of a process; what it was told is done is noted.
  void use(SlotProcess& process, Disk& disk) {
    const auto note = [&] { acknowledged.push_back({disk.operations.size(), process.kept()}); };
    note();
    for (std::uint64_t moment = random.below(6); moment > 0; --moment) {
      switch (random.below(5)) {
        case 0:
        case 1: {
          const auto& model = models[static_cast<std::size_t>(random.below(models.size()))];
          process.push("m.itmodel", model);
          (void)process.models->look();
          break;
        }
        case 2: (void)process.models->confirm(); break;
        case 3: (void)process.models->reject("chance"); break;
        default: process.models->end(); break;
      }
      note();
    }
  }
  // The record is the one that was acknowledged last (true), or what was under way.
  bool is_acknowledged(const std::vector<std::uint8_t>& record) const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < acknowledged.size(); ++i) {
      if (acknowledged[i].operations <= cut_at) last = i;
    }
    const bool is_last = record == acknowledged[last].record;
    const bool is_next = last + 1 < acknowledged.size() && record == acknowledged[last + 1].record;
    // Before the first slot is written it says that nothing is on trial.
    SlotRecord first;
    const bool is_first = acknowledged[last].record.empty() && SlotRecord::decode(record, first) &&
                          !first.trial.is_there();
    CHECK_MESSAGE((is_last || is_next || is_first), "cut at " << cut_at);
    return is_last;
  }
  Files cut(const Disk& disk, std::size_t least) {
    PowerCutter cutter(disk);
    const std::size_t all = disk.operations.size();
    cut_at = least + static_cast<std::size_t>(random.below(all - least + 1));
    while (cutter.position() < cut_at) cutter.advance();
    return cutter.image(test::kAllCuts[random.below(4)], random);
  }

  Random random;
  const test::TemporaryFolder folder;
  const std::string image = folder.path() + "/image.itmodel";
  std::vector<std::vector<std::uint8_t>> models;
  std::vector<Acknowledged> acknowledged;
  std::size_t cut_at = 0;
};

std::vector<std::uint8_t> record_on(const Files& image) {
  const auto journal = journal::test::open_on(std::make_shared<Disk>(image));
  const Bytes record = journal->state().models();
  return {record.begin(), record.end()};
}

std::uint64_t cuts_wanted() {
  return test::number_from_environment("IDLETUNE_TEST_SLOT_CUTS", test::repeats(1500));
}

}  // namespace

TEST_CASE("power cuts leave one confirmed model, and nothing that was gone back from") {
  Play play(20261126);
  auto disk = std::make_shared<Disk>();
  for (std::uint64_t cuts = 0; cuts < cuts_wanted(); ++cuts) {
    if (cuts % 50 == 0) disk = std::make_shared<Disk>();  // another board
    play.acknowledged.clear();
    std::size_t opened_at = 0;
    {
      SlotProcess process(disk, play.image);
      play.check_start(process);
      opened_at = disk->operations.size();
      play.use(process, *disk);
    }
    const Files image = play.cut(*disk, opened_at);
    SlotRecord record;
    const auto kept = record_on(image);
    if (play.is_acknowledged(kept) && !kept.empty()) REQUIRE(SlotRecord::decode(kept, record));
    // The next start is cut as well; what comes after it must find a model, too.
    const auto again = std::make_shared<Disk>(image);
    {
      const SlotProcess process(again, play.image);
      play.check_start(process);
      // What was pushed, and said to be taken, is tried; or what was pushed after it.
      if (record.trial.is_there() && record.young_starts < slots::kYoungDeaths &&
          process.digest() != record.trial.digest) {
        CHECK(process.incoming_at_start == 1);
        CHECK(process.models->newest()->generation() >= record.trial.generation);
      }
    }
    disk = std::make_shared<Disk>(play.cut(*again, 0));
    { play.check_start(SlotProcess(disk, play.image)); }
  }
}
