// A journal in a real folder, which somebody may take away or limit.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include <sys/resource.h>

#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "tests/unit/journal/small_journal.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

namespace idletune::journal {
namespace {

using namespace test;
using std::chrono::seconds;

TEST_CASE("a real folder keeps the journal") {
  const idletune::test::TemporaryFolder folder;
  JournalOptions options;
  options.boot = kBoot;
  {
    const auto journal = Journal::open(open_posix_storage(folder.path()), options);
    REQUIRE_MESSAGE(journal->storage_status().ok(), journal->storage_status().to_string());
    CHECK(journal->intent({trial_of(1), IntentStage::run, true}) != 0);
    CHECK(journal->storage_status().ok());
    const auto second = Journal::open(open_posix_storage(folder.path()), options);
    CHECK(second->storage_status().code() == StatusCode::busy);
    CHECK(journal->compact().ok());
  }
  const auto journal = Journal::open(open_posix_storage(folder.path()), options);
  CHECK(journal->storage_status().ok());
  CHECK(journal->state().dangers().is_suspect(trial_of(1).key()));
}

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
    CHECK_FALSE(journal->outbox().displaced());
    CHECK(journal->intent({trial_of(2), IntentStage::run, true}) !=
          0);  // kept, and said so rightly
    CHECK(journal->storage_status().ok());
    CHECK(journal->storage_status().ok());
    CHECK(journal->damage().code() == StatusCode::not_found);
    const auto bytes = required(read_file(folder + "/" + kJournalName, 1 << 20));
    const auto kept = required(read_journal(bytes));
    CHECK(kept.state.dangers().is_quarantined(trial_of(1).key()));
    CHECK(kept.state.dangers().open_trials().size() == 1);
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
  CHECK(journal->intent({trial_of(2), IntentStage::run, true}) != 0);
  CHECK_FALSE(journal->storage_status().ok());
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
  CHECK(journal->intent({trial_of(2), IntentStage::run, true}) != 0);
  CHECK_FALSE(journal->storage_status().ok());
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

TEST_CASE("a state folder that was away for a while goes on with all that was known") {
  const idletune::test::TemporaryFolder parent;
  const std::string mount = parent.path() + "/mount";
  const std::string away = parent.path() + "/away";
  std::filesystem::create_directory(mount);
  const auto journal = open_in(mount + "/state");
  journal->measured(measurement_of(1));
  std::filesystem::rename(mount, away);
  journal->quarantine(trial_of(2), QuarantineReason::crash, "SIGSEGV");
  CHECK(journal->storage_status().code() == StatusCode::not_found);
  std::filesystem::rename(away, mount);
  journal->retry_storage(seconds(0));
  journal->retry_storage(seconds(60));
  CHECK_MESSAGE(journal->storage_status().ok(), journal->storage_status().to_string());
  CHECK(journal->shutdown().ok());
  const auto bytes = required(read_file(mount + "/state/" + kJournalName, 1 << 20));
  CHECK(required(read_journal(bytes)).state.dangers().is_quarantined(trial_of(2).key()));
}

TEST_CASE("a folder given by a relative path is no other one where the application moves about") {
  const idletune::test::TemporaryFolder parent;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(parent.path());
  const auto journal = open_in("state");
  std::filesystem::current_path(here);
  CHECK(journal->intent({trial_of(2), IntentStage::run, true}) != 0);
  CHECK(journal->storage_status().ok());
  CHECK_FALSE(journal->outbox().displaced());
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

}  // namespace
}  // namespace idletune::journal
