// Journal files that are not as this version left them.
#include <doctest/doctest.h>

#include <string>

#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "tests/unit/journal/small_journal.hpp"

namespace idletune::journal {
namespace {

using namespace test;
using idletune::test::Disk;
using idletune::test::open_faulty_storage;

TEST_CASE("a torn last record is dropped and the rest is kept, also after appending to it") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    journal->measured(measurement_of(1));
    journal->measured(measurement_of(2));
  }
  Payload file = disk->files().at(kJournalName);
  file.resize(file.size() - 3);
  const auto torn = std::make_shared<Disk>(idletune::test::Files{{kJournalName, file}});
  {
    const auto journal = open_on(torn);
    CHECK(journal->recovery().dropped_bytes > 0);
    CHECK(journal->state().measurement(trial_of(1).key()));
    CHECK_FALSE(journal->state().measurement(trial_of(2).key()));
    journal->measured(measurement_of(3));
  }
  const auto journal = open_on(torn);
  CHECK(journal->recovery().dropped_bytes == 0);
  CHECK(journal->state().measurement(trial_of(1).key()));
  CHECK(journal->state().measurement(trial_of(3).key()));
}

TEST_CASE("an unreadable file is set aside and a new journal begun") {
  const Payload garbage(100, 'x');
  const auto disk = std::make_shared<Disk>(idletune::test::Files{{kJournalName, garbage}});
  {
    const auto journal = open_on(disk);
    CHECK(journal->storage_status().ok());
    CHECK(journal->recovery().set_aside);
    CHECK(journal->damage().code() == StatusCode::corrupt);
    CHECK(journal->damage().message().find("set aside as journal.unreadable") != std::string::npos);
    journal->measured(measurement_of(1));
  }
  CHECK(disk->files().at(kSetAsideName) == garbage);
  const auto next = open_on(disk);
  CHECK(next->state().measurement_count() == 1);
  CHECK(next->damage().ok());
}

TEST_CASE("an unreadable file that cannot be set aside stays where it is, and that is said") {
  const auto disk =
      std::make_shared<Disk>(idletune::test::Files{{kJournalName, Payload(100, 'x')}});
  disk->fault = {disk->changes, UINT64_MAX, StatusCode::read_only, false};
  const auto journal = open_on(disk);
  CHECK(journal->damage().message().find("left where it is") != std::string::npos);
  CHECK(journal->storage_status().code() == StatusCode::read_only);
}

TEST_CASE("who only looks leaves an unreadable file where it is and says so") {
  const auto disk =
      std::make_shared<Disk>(idletune::test::Files{{kJournalName, Payload(100, 'x')}});
  JournalOptions options;
  options.read_only = true;
  const auto journal = Journal::open(open_faulty_storage(disk), options);
  CHECK_FALSE(journal->recovery().set_aside);
  CHECK(journal->damage().message().find("left where it is") != std::string::npos);
  CHECK(disk->files().count(kJournalName) == 1);
}

TEST_CASE("a journal of a newer format stays where it is, and this one lives in memory beside it") {
  Payload newer;
  append_file_header({kFormatVersion + 1, 1}, newer);
  newer.insert(newer.end(), {1, 2, 3});  // nobody here knows what that is
  const auto disk = std::make_shared<Disk>(idletune::test::Files{{kJournalName, newer}});
  {
    const auto journal = open_on(disk);
    CHECK(journal->damage().code() == StatusCode::version_mismatch);
    CHECK(journal->damage().message().find("for the newer agent that wrote it") !=
          std::string::npos);
    CHECK(journal->storage_status().code() == StatusCode::version_mismatch);
    CHECK_FALSE(journal->recovery().set_aside);
    CHECK(journal->intent({trial_of(1), IntentStage::run, true}) != 0);
    CHECK_FALSE(journal->storage_status().ok());
    journal->quarantine(trial_of(1), QuarantineReason::crash, "");
    CHECK(journal->state().dangers().is_quarantined(trial_of(1).key()));
    journal->retry_storage(std::chrono::hours(1));
    journal->retry_storage(std::chrono::hours(99));
    CHECK_FALSE(journal->compact().ok());
    CHECK_FALSE(journal->shutdown().ok());
  }
  CHECK(disk->operations.empty());
  CHECK(disk->files() == idletune::test::Files{{kJournalName, newer}});
}

TEST_CASE("records of an unknown type are skipped and survive a compaction") {
  Payload file;
  append_file_header({kFormatVersion, 1}, file);
  const Payload unknown{1, 2, 3};
  append_record(77, 9, unknown, 1, file.size(), file);
  append_record(static_cast<std::uint8_t>(RecordType::measurement), 1, encode(measurement_of(1)), 1,
                file.size(), file);
  const auto disk = std::make_shared<Disk>(idletune::test::Files{{kJournalName, file}});
  {
    const auto journal = open_on(disk);
    CHECK(journal->state().measurement_count() == 1);
    CHECK(journal->compact().ok());
  }
  bool found = false;
  CHECK(for_each_record(disk->files().at(kJournalName), [&](const RecordView& record) {
          if (record.type != 77) return;
          found = record.version == 9 &&
                  Payload(record.payload.begin(), record.payload.end()) == unknown;
        }).ok());
  CHECK(found);
}

}  // namespace
}  // namespace idletune::journal
