#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "tests/paths.hpp"
#include "tests/unit/journal/faulty_storage.hpp"
#include "tests/unit/journal/sample_values.hpp"
#include "tests/unit/journal/small_journal.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

namespace idletune::journal {
namespace {

using namespace test;
using idletune::test::Disk;
using idletune::test::open_faulty_storage;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST_CASE("what was recorded is there after the next open") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    REQUIRE(journal->storage_status().ok());
    journal->measured(measurement_of(1));
    journal->adopted({trial_of(1), nanoseconds(5), nanoseconds(9), 2});
    journal->quarantine(trial_of(2), QuarantineReason::crash, "SIGSEGV");
    journal->note_ledger(test::sample_ledger(), seconds(0));
    journal->note_shape(test::sample_statistics(), seconds(0));
    CHECK(journal->shutdown().ok());
  }
  const auto journal = open_on(disk);
  const State& state = journal->state();
  CHECK(state.session().number == 2);
  CHECK(state.measurement(trial_of(1).key())->median == nanoseconds(1001));
  CHECK(state.adoption(trial_of(1).shape_key())->default_time == nanoseconds(9));
  CHECK(state.dangers().quarantine(trial_of(2).key())->detail == "SIGSEGV");
  CHECK(state.ledger() == test::sample_ledger());
  CHECK(state.shape_statistics(test::sample_statistics().kernel, test::sample_statistics().shape));
  CHECK(journal->recovery().dropped_bytes == 0);
  CHECK(journal->recovery().new_suspects == 0);
}

TEST_CASE("names are recorded once, and a compaction and a restart keep them") {
  const auto disk = std::make_shared<Disk>();
  const Name kernel{NameKind::kernel, 1, "gemm\n4092\nM N K\nMWG NWG"};
  const Name device{NameKind::device, 1, "opencl\nPlatform\nGPU\nVendor\n8"};  // the same digest
  {
    const auto journal = open_on(disk);
    const std::size_t before = disk->operations.size();
    journal->named(kernel);
    journal->named(device);
    const std::size_t after = disk->operations.size();
    CHECK(after == before + 2);
    journal->named(kernel);
    CHECK(disk->operations.size() == after);
    journal->named({NameKind::kernel, 2, std::string(kMaxNameBytes + 1, 'x')});
    CHECK(disk->operations.size() == after);
    CHECK(journal->compact().ok());
  }
  const auto journal = open_on(disk);
  REQUIRE(journal->state().name(NameKind::kernel, 1));
  CHECK(journal->state().name(NameKind::kernel, 1)->text == kernel.text);
  CHECK(journal->state().name(NameKind::device, 1)->text == device.text);
  CHECK_FALSE(journal->state().name(NameKind::driver, 1));
  CHECK_FALSE(journal->state().name(NameKind::kernel, 2));
  const std::size_t writes = disk->operations.size();
  journal->named(kernel);
  CHECK(disk->operations.size() == writes);
}

// --- Syncs ---

TEST_CASE("a step costs two syncs, adopting one more") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  const std::uint64_t before = journal->outbox().file_syncs();
  for (std::int64_t i = 0; i < 10; ++i) {
    CHECK(journal->intent({trial_of(i), IntentStage::compile, true}));
    CHECK(
        journal->intent({trial_of(i), IntentStage::compile, true}));  // the next slice of the stage
    CHECK(journal->intent({trial_of(i), IntentStage::run, true}));
    CHECK(journal->intent({trial_of(i), IntentStage::run, true}));
    CHECK(journal->intent({trial_of(i), IntentStage::compile, true}));
    journal->measured(measurement_of(i));
    journal->closed(trial_of(i), Where::helper);
  }
  CHECK(journal->outbox().file_syncs() - before == 20);
  journal->adopted({trial_of(1), nanoseconds(5), nanoseconds(9), 2});
  CHECK(journal->outbox().file_syncs() - before == 21);
  CHECK(journal->sync().ok());
  CHECK(journal->outbox().file_syncs() - before == 21);
  CHECK(journal->outbox().folder_syncs() == 1);
}

TEST_CASE("notes are written at most once per interval and by the shutdown") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  const auto writes = [&] { return disk->operations.size(); };
  Ledger ledger;
  const std::size_t before = writes();
  for (int i = 0; i < 59; ++i) {
    ledger.kernel_time += nanoseconds(1);
    journal->note_ledger(ledger, seconds(i));
    CHECK(journal->state().ledger() == ledger);
  }
  CHECK(writes() == before);
  ledger.kernel_time += nanoseconds(1);
  journal->note_ledger(ledger, seconds(60));
  CHECK(writes() == before + 1);
  ledger.kernel_time += nanoseconds(1);
  journal->note_ledger(ledger, seconds(61));
  CHECK(writes() == before + 1);
  CHECK(journal->shutdown().ok());
  CHECK(open_on(disk)->state().ledger() == ledger);
}

// --- Storage that does not do its part ---

TEST_CASE("without a folder everything works in memory and the status says so") {
  const auto journal = Journal::open(nullptr, JournalOptions());
  CHECK(journal->storage_status().code() == StatusCode::not_found);
  CHECK(journal->durable(journal->intent({trial_of(1), IntentStage::run, true})));
  journal->measured(measurement_of(1));
  journal->retry_storage(std::chrono::hours(99));
  CHECK(journal->state().measurement_count() == 1);
  CHECK_FALSE(journal->compact().ok());
  CHECK(journal->shutdown().code() == StatusCode::not_found);
}

TEST_CASE("why a folder could not be opened is kept as the status") {
  const auto journal =
      Journal::open(open_posix_storage("/nonexistent/parent/state"), JournalOptions());
  CHECK(journal->storage_status().code() == StatusCode::not_found);
  CHECK(journal->storage_status().message().find("/nonexistent/parent/state") != std::string::npos);
}

TEST_CASE("a second agent on the same journal reads it, writes nothing and judges nobody") {
  const auto disk = std::make_shared<Disk>();
  const auto first = open_on(disk);
  first->quarantine(trial_of(1), QuarantineReason::crash, "");
  first->intent({trial_of(2), IntentStage::run, false});
  const std::size_t operations = disk->operations.size();
  const auto second = open_on(disk);
  CHECK(second->storage_status().code() == StatusCode::busy);
  CHECK(second->state().dangers().is_quarantined(trial_of(1).key()));
  CHECK_FALSE(second->state().dangers().is_quarantined(trial_of(2).key()));
  CHECK(second->intent({trial_of(3), IntentStage::run, true}) != 0);
  second->retry_storage(std::chrono::hours(99));
  second->retry_storage(std::chrono::hours(199));
  CHECK_FALSE(second->shutdown().ok());
  CHECK(disk->operations.size() == operations);
}

TEST_CASE("a journal opened for reading writes nothing and takes no lock") {
  const auto disk = std::make_shared<Disk>();
  die_during(disk, {trial_of(1), IntentStage::run, false});
  const std::size_t operations = disk->operations.size();
  JournalOptions options;
  options.boot = kBoot;
  options.read_only = true;
  const auto reader = Journal::open(open_faulty_storage(disk), options);
  CHECK(reader->storage_status().code() == StatusCode::read_only);
  CHECK(reader->state().dangers().open_trials().size() ==
        1);  // perhaps under way in an agent that runs
  CHECK(reader->state().dangers().quarantine_count() + reader->state().dangers().suspect_count() ==
        0);
  reader->measured(measurement_of(1));
  CHECK(disk->operations.size() == operations);
  CHECK(open_on(disk)->storage_status().ok());
}

TEST_CASE("a failed storage is tried again, but not before the interval has passed") {
  const auto disk = std::make_shared<Disk>();
  disk->fault = {0, UINT64_MAX, StatusCode::no_space, false};
  const auto journal = open_on(disk);
  CHECK(journal->storage_status().code() == StatusCode::no_space);
  journal->measured(measurement_of(1));
  disk->fault = {};
  journal->retry_storage(seconds(0));
  journal->retry_storage(seconds(59));
  CHECK_FALSE(journal->storage_status().ok());
  journal->retry_storage(seconds(60));
  REQUIRE(journal->storage_status().ok());
  CHECK(journal->sync().ok());
  CHECK(read_journal(disk->files().at(kJournalName))->state.measurement_count() == 1);
}

TEST_CASE("a left-over compaction file is removed") {
  const auto disk = std::make_shared<Disk>();
  { const auto journal = open_on(disk); }
  idletune::test::Files files = disk->files();
  files[kCompactionName] = {1, 2, 3};
  const auto next = std::make_shared<Disk>(files);
  { const auto journal = open_on(next); }
  CHECK(next->files().count(kCompactionName) == 0);
}

TEST_CASE("a compaction keeps the state and shrinks the file") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  for (std::int64_t i = 0; i < 200; ++i) journal->measured(measurement_of(i % 10));
  journal->intent({trial_of(3), IntentStage::run, true});
  const std::uint64_t before = journal->outbox().file_bytes();
  const std::uint64_t digest = journal->state().digest();
  REQUIRE(journal->compact().ok());
  CHECK(journal->outbox().file_bytes() < before / 5);
  CHECK(journal->outbox().file_bytes() == disk->files().at(kJournalName).size());
  CHECK(read_journal(disk->files().at(kJournalName))->state.digest() == digest);
  journal->measured(measurement_of(300));
  CHECK(read_journal(disk->files().at(kJournalName))->state.measurement_count() == 11);
}

TEST_CASE("the file stays within its limit however much is recorded") {
  const auto disk = std::make_shared<Disk>();
  JournalOptions options;
  options.boot = kBoot;
  options.max_file_bytes = 100000;
  const auto journal = Journal::open(open_faulty_storage(disk), options);
  for (std::int64_t i = 0; i < 5000; ++i) {
    journal->measured(measurement_of(i));
    REQUIRE(journal->outbox().file_bytes() <= options.max_file_bytes);
  }
  CHECK(journal->storage_status().ok());
  CHECK(journal->state().measurement_count() > 200);
  CHECK(journal->state().measurement_count() < 2000);
  CHECK(journal->state().measurement(trial_of(0).key()));  // the fastest
}

// --- Golden file ---

// The operations that made tests/data/journal_v1/journal. Its bytes never change; what is written
// today has more fields.
void make_golden(Journal& journal) {
  journal.intent(test::sample_intent());
  journal.measured(test::sample_measurement());
  journal.closed(test::sample_trial(), Where::here);
  journal.adopted(test::sample_adoption());
  journal.quarantine(trial_of(7), QuarantineReason::hang, "outlived 250 ms");
  journal.note_ledger(test::sample_ledger(), seconds(0));
  journal.note_shape(test::sample_statistics(), seconds(0));
  journal.adopted({trial_of(8), nanoseconds(5), nanoseconds(9), 2});
  Demotion demotion;
  demotion.key = trial_of(8).shape_key();
  demotion.configuration = trial_of(8).configuration;
  journal.demoted(demotion);
  journal.intent({trial_of(9), IntentStage::compile, true});
  journal.parked(trial_of(9), Where::helper);
  (void)journal.shutdown();
  journal.intent({trial_of(10), IntentStage::compile, true});
}

TEST_CASE("version 1 is read as ever, and what is written only adds fields to it") {
  const auto golden = required(read_file(IDLETUNE_TEST_DATA_FOLDER "/journal_v1/journal", 1 << 20));

  const auto summary = required(read_journal(golden));
  CHECK(summary.header.version == 1);
  CHECK(summary.header.generation == 1);
  CHECK(summary.dropped_bytes() == 0);
  CHECK(summary.unknown_records + summary.malformed_records == 0);
  for (RecordType type : {RecordType::session, RecordType::clean_shutdown, RecordType::intent,
                          RecordType::parked, RecordType::closed, RecordType::quarantine,
                          RecordType::suspect, RecordType::measurement, RecordType::adoption,
                          RecordType::demotion, RecordType::ledger, RecordType::shape_statistics}) {
    CAPTURE(record_type_name(static_cast<std::uint8_t>(type)));
    CHECK(summary.records_by_type[static_cast<std::size_t>(type)] > 0);
  }
  const State& state = summary.state;
  CHECK(state.session().number == 2);
  CHECK(state.dangers().is_suspect(trial_of(10).key()));
  CHECK(state.measurement(test::sample_trial().key())->median == nanoseconds(123456789));
  CHECK(state.measurement(test::sample_trial().key())->trial.configuration ==
        test::sample_trial().configuration);
  CHECK(state.adoption(test::sample_trial().shape_key())->expected ==
        std::chrono::microseconds(900));
  CHECK_FALSE(state.adoption(trial_of(8).shape_key()));
  CHECK(state.dangers().quarantine(trial_of(7).key())->detail == "outlived 250 ms");
  CHECK(state.ledger() == test::sample_ledger());
  CHECK(state.shape_statistics(test::sample_statistics().kernel, test::sample_statistics().shape)
            ->sessions == 12);

  const auto disk = std::make_shared<Disk>();
  make_golden(*open_on(disk));
  { const auto next = open_on(disk, kBoot + 1); }
  const auto records_of = [](const std::vector<std::uint8_t>& file) {
    std::vector<std::pair<std::uint8_t, Payload>> records;
    CHECK(for_each_record(file, [&](const RecordView& record) {
            records.push_back({record.type, {record.payload.begin(), record.payload.end()}});
          }).ok());
    return records;
  };
  const auto old = records_of(golden);
  const auto today = records_of(disk->files().at(kJournalName));
  REQUIRE(today.size() == old.size());
  for (std::size_t i = 0; i < old.size(); ++i) {
    CAPTURE(i);
    CHECK(today[i].first == old[i].first);
    REQUIRE(today[i].second.size() >= old[i].second.size());
    CHECK(std::equal(old[i].second.begin(), old[i].second.end(), today[i].second.begin()));
  }
}

// --- Writes in other hands ---

TEST_CASE("recording neither writes nor syncs where writes are deferred, and goes on meanwhile") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  journal->outbox().defer();
  CHECK(journal->outbox().take() == nullptr);
  const std::size_t operations = disk->operations.size();
  const std::uint64_t syncs = journal->outbox().file_syncs();
  const Serial intent = journal->intent({trial_of(1), IntentStage::compile, true});
  CHECK_FALSE(journal->durable(intent));
  auto write = journal->outbox().take();
  REQUIRE(write != nullptr);
  CHECK(journal->outbox().take() == nullptr);
  CHECK(journal->sync().code() == StatusCode::busy);
  journal->closed(trial_of(1), Where::helper);
  CHECK(disk->operations.size() == operations);
  write->run();
  CHECK(disk->operations.size() == operations + 2);  // written and synced
  CHECK_FALSE(journal->durable(intent));
  journal->outbox().written(std::move(write));
  CHECK(journal->durable(intent));
  CHECK(journal->outbox().file_syncs() == syncs + 1);
  write = journal->outbox().take();  // what came meanwhile needs no sync
  REQUIRE(write != nullptr);
  write->run();
  journal->outbox().written(std::move(write));
  CHECK(disk->operations.size() == operations + 3);
  CHECK(journal->outbox().take() == nullptr);
  CHECK(journal->sync().ok());
  CHECK(journal->outbox().file_syncs() == syncs + 2);
  CHECK(journal->sync().ok());
  CHECK(journal->outbox().file_syncs() == syncs + 2);
}

TEST_CASE("a journal grows past its limits and is compacted by who writes, and loses nothing") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  journal->outbox().defer();
  std::size_t before = disk->operations.size();
  for (std::int64_t i = 0; i < 20000; ++i) {
    journal->measured(measurement_of(i % 10));
    if (i % 7 == 0) journal->intent({trial_of(i % 10), IntentStage::run, true});
    if (i % 7 == 1) journal->closed(trial_of((i - 1) % 10), Where::helper);
    REQUIRE(disk->operations.size() == before);
    if (i % 50 != 0) continue;
    auto write = journal->outbox().take();
    REQUIRE(write != nullptr);
    journal->measured(measurement_of(1000 + i));
    write->run();
    journal->outbox().written(std::move(write));
    before = disk->operations.size();
  }
  CHECK(journal->outbox().folder_syncs() > 2);
  CHECK(journal->sync().ok());
  CHECK(read_journal(disk->files().at(kJournalName))->state.digest() == journal->state().digest());
  CHECK(disk->files().at(kJournalName).size() == journal->outbox().file_bytes());
}

TEST_CASE("a deferred write that fails makes the journal write all it knows into a fresh file") {
  for (const std::uint64_t fails : {std::uint64_t{0}, std::uint64_t{1}}) {  // written, synced
    const auto disk = std::make_shared<Disk>();
    const auto journal = open_on(disk);
    journal->outbox().defer();
    journal->quarantine(trial_of(1), QuarantineReason::crash, "x");
    const Serial intent = journal->intent({trial_of(2), IntentStage::run, true});
    auto write = journal->outbox().take();
    disk->fault = {disk->changes + fails, 1, StatusCode::io_error, false};
    write->run();
    journal->outbox().written(std::move(write));
    CHECK_FALSE(journal->durable(intent));
    write = journal->outbox().take();
    REQUIRE(write != nullptr);
    write->run();
    journal->outbox().written(std::move(write));
    CHECK(journal->durable(intent));
    CHECK(journal->storage_status().ok());
    CHECK(journal->outbox().take() == nullptr);
    const auto next = open_on(std::make_shared<Disk>(disk->files()));
    CHECK(next->state().dangers().quarantine_count() == 1);
    CHECK(next->state().dangers().is_suspect(trial_of(2)));
  }
}

TEST_CASE("where no fresh file can be written either, only this process remembers, and says so") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  journal->outbox().defer();
  const Serial intent = journal->intent({trial_of(2), IntentStage::run, true});
  disk->fault = {disk->changes, UINT64_MAX, StatusCode::no_space, false};
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(journal->durable(intent));
    auto write = journal->outbox().take();
    REQUIRE(write != nullptr);
    write->run();
    journal->outbox().written(std::move(write));
  }
  CHECK(journal->durable(intent));
  CHECK(journal->storage_status().code() == StatusCode::no_space);
  CHECK(journal->outbox().take() == nullptr);
  journal->measured(measurement_of(1));
  disk->fault = {};
  journal->retry_storage(seconds(0));
  journal->retry_storage(seconds(60));
  auto write = journal->outbox().take();
  REQUIRE(write != nullptr);
  journal->quarantine(trial_of(5), QuarantineReason::crash, "");  // while it is out
  write->run();
  journal->outbox().written(std::move(write));
  CHECK(journal->storage_status().ok());
  CHECK(read_journal(disk->files().at(kJournalName))->state.measurement_count() == 1);
  CHECK(journal->sync().ok());
  CHECK(read_journal(disk->files().at(kJournalName))->state.digest() == journal->state().digest());
}

TEST_CASE("notes of any number of shapes are written once an interval, and only if they changed") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  const auto note = [&](std::uint64_t launches, std::int64_t time) {
    for (std::int64_t i = 0; i < 1000; ++i) {
      ShapeStatistics statistics;
      statistics.kernel = 1;
      statistics.shape = Shape{i};
      statistics.launches = i == 7 ? launches : 3;
      statistics.active_seconds = static_cast<std::uint64_t>(time);
      statistics.sessions = 1;
      journal->note_shape(statistics, seconds(time));
    }
  };
  const std::size_t before = disk->operations.size();
  for (int look = 0; look < 100; ++look) note(3, 1);
  CHECK(disk->operations.size() == before);
  note(3, 61);
  CHECK(disk->operations.size() == before + 1000);
  note(4, 62);
  CHECK(disk->operations.size() == before + 1000);
  note(4, 121);
  CHECK(disk->operations.size() == before + 1001);
  note(4, 181);
  CHECK(disk->operations.size() == before + 1001);
  note(5, 182);
  CHECK(journal->flush().ok());
  CHECK(disk->operations.size() == before + 1003);  // and a sync
  CHECK(
      read_journal(disk->files().at(kJournalName))->state.shape_statistics(1, Shape{7})->launches ==
      5);
}

}  // namespace
}  // namespace idletune::journal
