#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include <sys/resource.h>

#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "tests/paths.hpp"
#include "tests/unit/journal/faulty_storage.hpp"
#include "tests/unit/journal/sample_values.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace idletune::journal {
namespace {

using idletune::test::Disk;
using idletune::test::open_faulty_storage;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::uint64_t kBoot = 1000;

std::unique_ptr<Journal> open_on(const std::shared_ptr<Disk>& disk, std::uint64_t boot = kBoot) {
  JournalOptions options;
  options.boot = boot;
  return Journal::open(open_faulty_storage(disk), options);
}

Trial trial_of(std::int64_t configuration) {
  Trial trial;
  trial.kernel = 1;
  trial.device = 2;
  trial.driver = 3;
  trial.shape = Shape{128, 64};
  trial.configuration = Configuration{configuration, 8};
  return trial;
}

Measurement measurement_of(std::int64_t configuration) {
  Measurement measurement;
  measurement.trial = trial_of(configuration);
  measurement.median = nanoseconds(1000 + configuration);
  return measurement;
}

// A session that dies while `intent` is open.
void die_during(const std::shared_ptr<Disk>& disk, const Intent& intent,
                std::uint64_t boot = kBoot) {
  const auto journal = open_on(disk, boot);
  CHECK(journal->intent(intent));
}

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
  CHECK(state.quarantine(trial_of(2).key())->detail == "SIGSEGV");
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

// --- Quarantine ---

TEST_CASE("a first ambiguous death makes a suspect, a second one a quarantine") {
  const auto disk = std::make_shared<Disk>();
  const Intent intent{trial_of(1), IntentStage::run, true};
  const TrialKey key = intent.trial.key();
  die_during(disk, intent);
  {
    const auto journal = open_on(disk);
    CHECK(journal->recovery().new_suspects == 1);
    CHECK(journal->state().is_suspect(key));
    CHECK_FALSE(journal->state().is_quarantined(key));
    CHECK(journal->state().suspect(key)->trial.configuration == intent.trial.configuration);
  }
  {
    const auto journal = open_on(disk);
    CHECK(journal->recovery().new_suspects == 0);
    CHECK(journal->state().suspect(key)->deaths == 1);
  }
  die_during(disk, intent, kBoot + 1);
  const auto journal = open_on(disk, kBoot + 2);
  CHECK(journal->recovery().new_quarantines == 1);
  CHECK_FALSE(journal->state().is_suspect(key));
  REQUIRE(journal->state().is_quarantined(key));
  CHECK(journal->state().quarantine(key)->reason == QuarantineReason::repeated_death);
}

TEST_CASE("a suspect that comes to an outcome is forgiven") {
  const auto disk = std::make_shared<Disk>();
  const Intent intent{trial_of(1), IntentStage::run, true};
  die_during(disk, intent);
  {
    const auto journal = open_on(disk);
    CHECK(journal->intent(intent));
    journal->closed(intent.trial.key());
    CHECK(journal->sync().ok());
  }
  die_during(disk, intent);
  const auto journal = open_on(disk);
  CHECK(journal->state().is_suspect(intent.trial.key()));
  CHECK_FALSE(journal->state().is_quarantined(intent.trial.key()));
}

TEST_CASE("a process that died with the trial in it quarantines at once") {
  for (IntentStage stage : {IntentStage::compile, IntentStage::run}) {
    const auto disk = std::make_shared<Disk>();
    die_during(disk, {trial_of(1), stage, false});
    const auto journal = open_on(disk);
    CHECK(journal->recovery().new_quarantines == 1);
    REQUIRE(journal->state().is_quarantined(trial_of(1).key()));
    CHECK(journal->state().quarantine(trial_of(1).key())->reason ==
          QuarantineReason::in_process_death);
  }
}

TEST_CASE("a board that died with the trial in the process makes a suspect") {
  const auto disk = std::make_shared<Disk>();
  die_during(disk, {trial_of(1), IntentStage::run, false});
  const auto journal = open_on(disk, kBoot + 1);
  CHECK(journal->state().is_suspect(trial_of(1).key()));
  CHECK_FALSE(journal->state().is_quarantined(trial_of(1).key()));
}

TEST_CASE("an unknown boot counts as the same one") {
  const auto disk = std::make_shared<Disk>();
  die_during(disk, {trial_of(1), IntentStage::run, false});
  CHECK(open_on(disk, 0)->state().is_quarantined(trial_of(1).key()));
}

TEST_CASE("closed, parked and shut down trials are nobody's fault") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    journal->intent({trial_of(1), IntentStage::run, false});
    journal->closed(trial_of(1).key());
    journal->intent({trial_of(2), IntentStage::run, false});
    journal->parked(trial_of(2).key());
  }
  {
    const auto journal = open_on(disk);
    CHECK(journal->recovery().new_suspects + journal->recovery().new_quarantines == 0);
    journal->intent({trial_of(3), IntentStage::run, false});
    CHECK(journal->shutdown().ok());
  }
  const auto journal = open_on(disk);
  CHECK(journal->recovery().new_suspects + journal->recovery().new_quarantines == 0);
}

TEST_CASE("recording goes on after a shutdown and is judged again") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    CHECK(journal->shutdown().ok());
    CHECK(journal->intent({trial_of(1), IntentStage::run, true}));
  }
  CHECK(open_on(disk)->state().is_suspect(trial_of(1).key()));
}

TEST_CASE("a quarantine by key takes its values from the open trial") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  journal->intent({trial_of(1), IntentStage::run, true});
  journal->quarantine(trial_of(1).key(), QuarantineReason::hang, "250 ms");
  const auto quarantine = journal->state().quarantine(trial_of(1).key());
  REQUIRE(quarantine);
  CHECK(quarantine->trial.configuration == trial_of(1).configuration);
  CHECK(journal->state().open_trials().empty());
}

// --- Syncs ---

TEST_CASE("a step costs two syncs, adopting one more") {
  const auto disk = std::make_shared<Disk>();
  const auto journal = open_on(disk);
  const std::uint64_t before = journal->file_syncs();
  for (std::int64_t i = 0; i < 10; ++i) {
    CHECK(journal->intent({trial_of(i), IntentStage::compile, true}));
    CHECK(
        journal->intent({trial_of(i), IntentStage::compile, true}));  // the next slice of the stage
    CHECK(journal->intent({trial_of(i), IntentStage::run, true}));
    CHECK(journal->intent({trial_of(i), IntentStage::run, true}));
    CHECK(journal->intent({trial_of(i), IntentStage::compile, true}));
    journal->measured(measurement_of(i));
    journal->closed(trial_of(i).key());
  }
  CHECK(journal->file_syncs() - before == 20);
  journal->adopted({trial_of(1), nanoseconds(5), nanoseconds(9), 2});
  CHECK(journal->file_syncs() - before == 21);
  CHECK(journal->sync().ok());
  CHECK(journal->file_syncs() - before == 21);
  CHECK(journal->folder_syncs() == 1);
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
  CHECK_FALSE(journal->intent({trial_of(1), IntentStage::run, true}));
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
  CHECK(second->state().is_quarantined(trial_of(1).key()));
  CHECK_FALSE(second->state().is_quarantined(trial_of(2).key()));
  CHECK_FALSE(second->intent({trial_of(3), IntentStage::run, true}));
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
  CHECK(reader->state().open_trials().size() == 1);  // perhaps under way in an agent that runs
  CHECK(reader->state().quarantine_count() + reader->state().suspect_count() == 0);
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

// --- Files that are not as we left them ---

TEST_CASE("a torn last record is dropped and the rest is kept, also after appending to it") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto journal = open_on(disk);
    journal->measured(measurement_of(1));
    journal->measured(measurement_of(2));
  }
  test::Payload file = disk->files().at(kJournalName);
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
  const test::Payload garbage(100, 'x');
  const auto disk = std::make_shared<Disk>(idletune::test::Files{{kJournalName, garbage}});
  {
    const auto journal = open_on(disk);
    CHECK(journal->storage_status().ok());
    CHECK(journal->recovery().set_aside);
    CHECK(journal->recovery().damage().code() == StatusCode::corrupt);
    CHECK(journal->recovery().damage().message().find("set aside as journal.unreadable") !=
          std::string::npos);
    journal->measured(measurement_of(1));
  }
  CHECK(disk->files().at(kSetAsideName) == garbage);
  const auto next = open_on(disk);
  CHECK(next->state().measurement_count() == 1);
  CHECK(next->recovery().damage().ok());
}

TEST_CASE("who only looks leaves an unreadable file where it is and says so") {
  const auto disk =
      std::make_shared<Disk>(idletune::test::Files{{kJournalName, test::Payload(100, 'x')}});
  JournalOptions options;
  options.read_only = true;
  const auto journal = Journal::open(open_faulty_storage(disk), options);
  CHECK_FALSE(journal->recovery().set_aside);
  CHECK(journal->recovery().damage().message().find("left where it is") != std::string::npos);
  CHECK(disk->files().count(kJournalName) == 1);
}

TEST_CASE("a journal of a newer format stays where it is, and this one lives in memory beside it") {
  test::Payload newer;
  append_file_header({kFormatVersion + 1, 1}, newer);
  newer.insert(newer.end(), {1, 2, 3});  // nobody here knows what that is
  const auto disk = std::make_shared<Disk>(idletune::test::Files{{kJournalName, newer}});
  {
    const auto journal = open_on(disk);
    CHECK(journal->recovery().damage().code() == StatusCode::version_mismatch);
    CHECK(journal->recovery().damage().message().find("for the newer agent that wrote it") !=
          std::string::npos);
    CHECK(journal->storage_status().code() == StatusCode::version_mismatch);
    CHECK_FALSE(journal->recovery().set_aside);
    CHECK_FALSE(journal->intent({trial_of(1), IntentStage::run, true}));
    journal->quarantine(trial_of(1), QuarantineReason::crash, "");
    CHECK(journal->state().is_quarantined(trial_of(1).key()));
    journal->retry_storage(std::chrono::hours(1));
    journal->retry_storage(std::chrono::hours(99));
    CHECK_FALSE(journal->compact().ok());
    CHECK_FALSE(journal->shutdown().ok());
  }
  CHECK(disk->operations.empty());
  CHECK(disk->files() == idletune::test::Files{{kJournalName, newer}});
}

TEST_CASE("records of an unknown type are skipped and survive a compaction") {
  test::Payload file;
  append_file_header({kFormatVersion, 1}, file);
  const test::Payload unknown{1, 2, 3};
  append_record(77, 9, unknown, 1, file.size(), file);
  append_record(static_cast<std::uint8_t>(RecordType::measurement), 1, encode(measurement_of(1)), 1,
                file.size(), file);
  const auto disk = std::make_shared<Disk>(idletune::test::Files{{kJournalName, file}});
  {
    const auto journal = open_on(disk);
    CHECK(journal->recovery().unknown_records == 1);
    CHECK(journal->state().measurement_count() == 1);
    CHECK(journal->compact().ok());
  }
  bool found = false;
  CHECK(for_each_record(disk->files().at(kJournalName), [&](const RecordView& record) {
          if (record.type != 77) return;
          found = record.version == 9 &&
                  test::Payload(record.payload.begin(), record.payload.end()) == unknown;
        }).ok());
  CHECK(found);
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
  const std::uint64_t before = journal->file_bytes();
  const std::uint64_t digest = journal->state().digest();
  REQUIRE(journal->compact().ok());
  CHECK(journal->file_bytes() < before / 5);
  CHECK(journal->file_bytes() == disk->files().at(kJournalName).size());
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
    REQUIRE(journal->file_bytes() <= options.max_file_bytes);
  }
  CHECK(journal->storage_status().ok());
  CHECK(journal->state().measurement_count() > 200);
  CHECK(journal->state().measurement_count() < 2000);
  CHECK(journal->state().measurement(trial_of(0).key()));  // the fastest
}

TEST_CASE("a real folder keeps the journal") {
  const idletune::test::TemporaryFolder folder;
  JournalOptions options;
  options.boot = kBoot;
  {
    const auto journal = Journal::open(open_posix_storage(folder.path()), options);
    REQUIRE_MESSAGE(journal->storage_status().ok(), journal->storage_status().to_string());
    CHECK(journal->intent({trial_of(1), IntentStage::run, true}));
    const auto second = Journal::open(open_posix_storage(folder.path()), options);
    CHECK(second->storage_status().code() == StatusCode::busy);
    CHECK(journal->compact().ok());
  }
  const auto journal = Journal::open(open_posix_storage(folder.path()), options);
  CHECK(journal->storage_status().ok());
  CHECK(journal->state().is_suspect(trial_of(1).key()));
}

// --- Folders that somebody takes away ---

std::string read_text(const std::string& path) {
  const auto bytes = read_file(path, 1 << 20);
  return bytes.ok() ? std::string(bytes->begin(), bytes->end()) : bytes.status().to_string();
}

std::unique_ptr<Journal> open_in(const std::string& folder) {
  JournalOptions options;
  options.boot = kBoot;
  return Journal::open(open_posix_storage(folder), options);
}

TEST_CASE("a state folder that is deleted in use is made again with all that was known") {
  const idletune::test::TemporaryFolder parent;
  const std::string folder = parent.path() + "/state";
  for (const bool folder_too : {true, false}) {
    CAPTURE(folder_too);
    const auto journal = open_in(folder);
    REQUIRE_MESSAGE(journal->storage_status().ok(), journal->storage_status().to_string());
    journal->quarantine(trial_of(1), QuarantineReason::crash, "SIGSEGV");
    std::filesystem::remove_all(folder_too ? folder : folder + "/" + kJournalName);
    CHECK_FALSE(journal->recovery().displaced);
    CHECK(journal->intent({trial_of(2), IntentStage::run, true}));  // kept, and said so rightly
    CHECK(journal->storage_status().ok());
    CHECK(journal->recovery().damage().code() == StatusCode::not_found);
    const auto bytes = read_file(folder + "/" + kJournalName, 1 << 20);
    REQUIRE(bytes.ok());
    const auto kept = read_journal(*bytes);
    REQUIRE(kept.ok());
    CHECK(kept->state.is_quarantined(trial_of(1).key()));
    CHECK(kept->state.open_trials().size() == 1);
    // The lock has moved with it.
    CHECK(open_in(folder)->storage_status().code() == StatusCode::busy);
  }
}

TEST_CASE("another journal in the place of the one in use is left alone") {
  const idletune::test::TemporaryFolder parent;
  const std::string folder = parent.path() + "/state";
  const std::string other = parent.path() + "/other";
  open_in(other)->measured(measurement_of(5));
  const std::string before = read_text(other + "/" + kJournalName);
  const auto journal = open_in(folder);
  journal->measured(measurement_of(1));
  std::filesystem::rename(folder, parent.path() + "/old");
  std::filesystem::rename(other, folder);
  CHECK_FALSE(journal->intent({trial_of(2), IntentStage::run, true}));
  CHECK(journal->storage_status().code() == StatusCode::busy);
  CHECK(journal->state().measurement(trial_of(1).key()));
  journal->retry_storage(std::chrono::hours(1));
  journal->retry_storage(std::chrono::hours(99));
  CHECK_FALSE(journal->shutdown().ok());
  CHECK(read_text(folder + "/" + kJournalName) == before);
}

TEST_CASE("a state folder whose parent is gone too is missed until it can be made again") {
  const idletune::test::TemporaryFolder parent;
  const std::string mount = parent.path() + "/mount";
  std::filesystem::create_directory(mount);
  const auto journal = open_in(mount + "/state");
  journal->measured(measurement_of(1));
  std::filesystem::remove_all(mount);
  CHECK_FALSE(journal->intent({trial_of(2), IntentStage::run, true}));
  CHECK(journal->storage_status().code() == StatusCode::not_found);
  journal->retry_storage(seconds(0));
  journal->retry_storage(seconds(60));
  CHECK(journal->storage_status().code() == StatusCode::not_found);
  std::filesystem::create_directory(mount);
  journal->retry_storage(seconds(61));
  journal->retry_storage(seconds(121));
  CHECK_MESSAGE(journal->storage_status().ok(), journal->storage_status().to_string());
  CHECK(open_in(mount + "/state")->state().measurement(trial_of(1).key()));
}

TEST_CASE("a folder given by a relative path is no other one where the application moves about") {
  const idletune::test::TemporaryFolder parent;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(parent.path());
  const auto journal = open_in("state");
  std::filesystem::current_path(here);
  CHECK(journal->intent({trial_of(2), IntentStage::run, true}));
  CHECK_FALSE(journal->recovery().displaced);
}

TEST_CASE("a limit on the size of files is a full disk, and kills nobody") {
  const idletune::test::TemporaryFolder folder;
  const auto journal = open_in(folder.path());
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = before;
  small.rlim_cur = 2048;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  for (std::int64_t i = 0; i < 200; ++i) journal->measured(measurement_of(i));
  const StatusCode full = journal->storage_status().code();
  const StatusCode whole_file = write_file_atomically(folder.file("x"), Payload(5000, 1)).code();
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(full == StatusCode::no_space);
  CHECK(whole_file == StatusCode::no_space);
  sigset_t pending;
  REQUIRE(::sigpending(&pending) == 0);
  CHECK(::sigismember(&pending, SIGXFSZ) == 0);
  journal->retry_storage(seconds(0));
  journal->retry_storage(seconds(60));
  CHECK(journal->storage_status().ok());
  CHECK(read_journal(*read_file(folder.path() + "/journal", 1 << 20))->state.measurement_count() ==
        200);
}

// --- Golden file ---

// The operations that made tests/data/journal_v1/journal. Its bytes never change.
void make_golden(Journal& journal) {
  journal.intent(test::sample_intent());
  journal.measured(test::sample_measurement());
  journal.closed(test::sample_trial().key());
  journal.adopted(test::sample_adoption());
  journal.quarantine(trial_of(7), QuarantineReason::hang, "outlived 250 ms");
  journal.note_ledger(test::sample_ledger(), seconds(0));
  journal.note_shape(test::sample_statistics(), seconds(0));
  journal.adopted({trial_of(8), nanoseconds(5), nanoseconds(9), 2});
  journal.demoted(trial_of(8).shape_key());
  journal.intent({trial_of(9), IntentStage::compile, true});
  journal.parked(trial_of(9).key());
  (void)journal.shutdown();
  journal.intent({trial_of(10), IntentStage::compile, true});
}

TEST_CASE("version 1 is written as ever and read as ever") {
  const auto golden = read_file(IDLETUNE_TEST_DATA_FOLDER "/journal_v1/journal", 1 << 20);
  REQUIRE_MESSAGE(golden.ok(), golden.status().to_string());

  const auto summary = read_journal(*golden);
  REQUIRE(summary.ok());
  CHECK(summary->header.version == 1);
  CHECK(summary->header.generation == 1);
  CHECK(summary->dropped_bytes() == 0);
  CHECK(summary->unknown_records + summary->malformed_records == 0);
  for (RecordType type : {RecordType::session, RecordType::clean_shutdown, RecordType::intent,
                          RecordType::parked, RecordType::closed, RecordType::quarantine,
                          RecordType::suspect, RecordType::measurement, RecordType::adoption,
                          RecordType::demotion, RecordType::ledger, RecordType::shape_statistics}) {
    CAPTURE(record_type_name(static_cast<std::uint8_t>(type)));
    CHECK(summary->records_by_type[static_cast<std::size_t>(type)] > 0);
  }
  const State& state = summary->state;
  CHECK(state.session().number == 2);
  CHECK(state.is_suspect(trial_of(10).key()));
  CHECK(state.measurement(test::sample_trial().key())->median == nanoseconds(123456789));
  CHECK(state.measurement(test::sample_trial().key())->trial.configuration ==
        test::sample_trial().configuration);
  CHECK(state.adoption(test::sample_trial().shape_key())->expected ==
        std::chrono::microseconds(900));
  CHECK_FALSE(state.adoption(trial_of(8).shape_key()));
  CHECK(state.quarantine(trial_of(7).key())->detail == "outlived 250 ms");
  CHECK(state.ledger() == test::sample_ledger());
  CHECK(state.shape_statistics(test::sample_statistics().kernel, test::sample_statistics().shape)
            ->sessions == 12);

  const auto disk = std::make_shared<Disk>();
  make_golden(*open_on(disk));
  { const auto next = open_on(disk, kBoot + 1); }
  CHECK(disk->files().at(kJournalName) == *golden);
}

}  // namespace
}  // namespace idletune::journal
