#include <doctest/doctest.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "platform/os/storage.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

namespace {

std::atomic<ino_t> watched_inode{0};
std::atomic<int> syncs_of_watched{0};

}  // namespace

// In the place of the C library's.
extern "C" int fsync(int descriptor) {
  static const auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fsync"));
  struct stat info {};
  if (::fstat(descriptor, &info) == 0 && info.st_ino == watched_inode) ++syncs_of_watched;
  return real(descriptor);
}

namespace idletune {
namespace {

using test::TemporaryFolder;

std::vector<std::uint8_t> bytes_in(const std::string& text) { return {text.begin(), text.end()}; }

std::string text_of(const Result<std::vector<std::uint8_t>>& bytes) {
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
  return std::string(bytes->begin(), bytes->end());
}

std::unique_ptr<Storage> open_in(const TemporaryFolder& folder) {
  return required(open_posix_storage(folder.file("state")));
}

TEST_CASE("a missing folder is made, one level deep") {
  const TemporaryFolder folder;
  CHECK(open_posix_storage(folder.file("new")).ok());
  CHECK(open_posix_storage(folder.file("new")).ok());
  const auto deep = open_posix_storage(folder.file("no/such"));
  CHECK(deep.code() == StatusCode::not_found);
  CHECK(deep.status().message().find("no/such") != std::string::npos);
}

TEST_CASE("the name of a folder that is made is on the medium") {
  const TemporaryFolder folder;
  for (const char* name : {"one", "two/", "two/three//"}) {
    const std::string path = folder.file(name);
    const std::string parent = folder.file(path.find("three") == std::string::npos ? "." : "two");
    struct stat info {};
    REQUIRE(::stat(parent.c_str(), &info) == 0);
    watched_inode = info.st_ino;
    syncs_of_watched = 0;
    REQUIRE(open_posix_storage(path).ok());
    CHECK(syncs_of_watched == 1);
  }
}

TEST_CASE("a file in the folder's place is refused") {
  const TemporaryFolder folder;
  REQUIRE(write_file_atomically(folder.file("plain"), bytes_in("x")).ok());
  CHECK(open_posix_storage(folder.file("plain")).code() == StatusCode::invalid_argument);
}

TEST_CASE("what is appended is read back, also by a file opened again") {
  const TemporaryFolder folder;
  const auto storage = open_in(folder);
  {
    auto file = required(storage->create("log"));
    CHECK(file->append(bytes_in("one ")).ok());
    CHECK(file->append(bytes_in("two ")).ok());
    CHECK(file->sync().ok());
  }
  auto file = required(storage->open_append("log"));
  CHECK(file->append(bytes_in("three")).ok());
  CHECK(text_of(storage->read("log", 100)) == "one two three");
  CHECK(storage->sync_folder().ok());
  CHECK(storage->create("log").ok());
  CHECK(text_of(storage->read("log", 100)).empty());
}

TEST_CASE("a file goes on being written under its new name") {
  const TemporaryFolder folder;
  const auto storage = open_in(folder);
  auto file = required(storage->create("log.new"));
  REQUIRE(file->append(bytes_in("a")).ok());
  REQUIRE(storage->rename("log.new", "log").ok());
  REQUIRE(file->append(bytes_in("b")).ok());
  CHECK(text_of(storage->read("log", 100)) == "ab");
  CHECK(storage->read("log.new", 100).code() == StatusCode::not_found);
}

TEST_CASE("truncating, removing and listing") {
  const TemporaryFolder folder;
  const auto storage = open_in(folder);
  for (const char* name : {"b", "a", "c"}) {
    auto file = required(storage->create(name));
    REQUIRE(file->append(bytes_in("0123456789")).ok());
  }
  CHECK(storage->truncate("a", 4).ok());
  CHECK(text_of(storage->read("a", 100)) == "0123");
  CHECK(storage->remove("b").ok());
  CHECK(storage->remove("b").code() == StatusCode::not_found);
  REQUIRE(::mkdir(folder.file("state/folder").c_str(), 0755) == 0);
  auto names = required(storage->list());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"a", "c"});
  CHECK(storage->list().ok());
}

TEST_CASE("errors name the path and have the right code") {
  const TemporaryFolder folder;
  const auto storage = open_in(folder);
  const auto missing = storage->read("missing", 100);
  CHECK(missing.code() == StatusCode::not_found);
  CHECK(missing.status().message().find("state/missing") != std::string::npos);
  CHECK(storage->truncate("missing", 0).code() == StatusCode::not_found);
  CHECK(storage->rename("missing", "other").code() == StatusCode::not_found);
  for (const char* name : {"", ".", "..", "a/b", "/etc/passwd"}) {
    CAPTURE(name);
    CHECK(storage->read(name, 100).code() == StatusCode::invalid_argument);
    CHECK(storage->create(name).code() == StatusCode::invalid_argument);
    CHECK(storage->rename("x", name).code() == StatusCode::invalid_argument);
    CHECK(storage->remove(name).code() == StatusCode::invalid_argument);
  }
}

TEST_CASE("a file longer than allowed is refused, one just as long is read") {
  const TemporaryFolder folder;
  REQUIRE(write_file_atomically(folder.file("f"), bytes_in("12345")).ok());
  CHECK(text_of(read_file(folder.file("f"), 5)) == "12345");
  CHECK(read_file(folder.file("f"), 4).code() == StatusCode::out_of_memory);
}

TEST_CASE("a full medium is no_space" * doctest::test_suite("dev full")) {
  if (::access("/dev/full", W_OK) != 0) {
    return test::skip("no /dev/full");
  }
  auto devices = required(open_posix_storage("/dev"));
  auto full = required(devices->open_append("full"));
  CHECK(full->append(bytes_in("x")).code() == StatusCode::no_space);
}

TEST_CASE("a medium that cannot be written is read_only" * doctest::test_suite("sysfs")) {
  struct stat info {};
  if (::stat("/sys/kernel", &info) != 0) {
    return test::skip("no /sys");
  }
  CHECK(open_posix_storage("/sys/kernel/idletune-test").code() == StatusCode::read_only);
  auto storage = required(open_posix_storage("/sys/kernel"));
  CHECK(storage->create("idletune-test").code() == StatusCode::read_only);
}

TEST_CASE("a folder without permission to write is read_only") {
  const TemporaryFolder folder;
  const auto storage = open_in(folder);
  REQUIRE(::chmod(folder.file("state").c_str(), 0555) == 0);
  // Root may write everywhere.
  const bool is_root = ::geteuid() == 0;
  if (is_root) REQUIRE(::seteuid(65534) == 0);
  const StatusCode code = storage->create("x").code();
  if (is_root) REQUIRE(::seteuid(0) == 0);
  CHECK(code == StatusCode::read_only);
  REQUIRE(::chmod(folder.file("state").c_str(), 0755) == 0);
}

TEST_CASE("a folder is locked by one storage at a time") {
  const TemporaryFolder folder;
  auto first = open_in(folder);
  const auto second = open_in(folder);
  CHECK(first->lock().ok());
  CHECK(second->lock().code() == StatusCode::busy);
  first.reset();
  CHECK(second->lock().ok());
}

TEST_CASE("something that is no plain file is not read") {
  const TemporaryFolder folder;
  CHECK(read_file(folder.path(), 100).code() == StatusCode::invalid_argument);
  REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  CHECK(read_file(folder.file("fifo"), 100).code() == StatusCode::invalid_argument);
}

TEST_CASE("a file of unknown size is read to its end" * doctest::test_suite("proc")) {
  const auto version = read_file("/proc/version", 10000);
  if (version.code() == StatusCode::not_found) {
    return test::skip("no /proc");
  }
  REQUIRE(version.ok());
  CHECK(version->size() > 5);
  CHECK(read_file("/proc/version", 5).code() == StatusCode::out_of_memory);
}

TEST_CASE("an atomic write replaces the file and leaves nothing beside it") {
  const TemporaryFolder folder;
  CHECK(write_file_atomically(folder.file("f"), bytes_in("old")).ok());
  CHECK(write_file_atomically(folder.file("f"), bytes_in("new")).ok());
  CHECK(text_of(read_file(folder.file("f"), 100)) == "new");
  CHECK((*open_posix_storage(folder.path()))->list()->size() == 1);
  const Status missing = write_file_atomically(folder.file("no/f"), bytes_in("x"));
  CHECK(missing.code() == StatusCode::not_found);
  CHECK(missing.message().find("no/f") != std::string::npos);
  REQUIRE(::mkdir(folder.file("d").c_str(), 0755) == 0);
  REQUIRE(write_file_atomically(folder.file("d/inside"), bytes_in("x")).ok());
  CHECK_FALSE(write_file_atomically(folder.file("d"), bytes_in("x")).ok());
  CHECK((*open_posix_storage(folder.path()))->list()->size() == 1);
}

unsigned mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

// A number that no process has: of one that was.
std::string dead_process() {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  REQUIRE(gone > 0);
  REQUIRE(::waitpid(gone, nullptr, 0) == gone);
  return std::to_string(gone);
}

TEST_CASE("a state folder and what is in it are their owner's alone") {
  const TemporaryFolder folder;
  const mode_t umask_before = ::umask(0);
  auto storage = open_in(folder);
  CHECK(mode_of(folder.file("state")) == 0700);
  REQUIRE(storage->create("new").ok());
  CHECK(mode_of(folder.file("state/new")) == 0600);
  REQUIRE(write_file_atomically(folder.file("state/old"), bytes_in("x")).ok());
  CHECK(mode_of(folder.file("state/old")) == 0644);
  REQUIRE(storage->open_append("old").ok());
  CHECK(mode_of(folder.file("state/old")) == 0600);
  REQUIRE(write_file_atomically(folder.file("state/own"), bytes_in("x"), FileSync::no,
                                FileReaders::owner)
              .ok());
  CHECK(mode_of(folder.file("state/own")) == 0600);
  ::umask(umask_before);
}

TEST_CASE("what dead processes left half-written is removed, what others write now is not") {
  const TemporaryFolder folder;
  const std::string dead = dead_process();
  const std::string kept[] = {"x.tmp" + std::to_string(::getppid()) + "-0",
                              "x.tmp1-2",
                              "x.tmp" + dead,
                              "x.tmp" + dead + "-",
                              "x.tmp" + dead + "-1x",
                              ".tmp" + dead + "-0",
                              "x.tmp-1-0",
                              "tmp" + dead + "-0",
                              "journal"};
  const std::string left[] = {"explain.json.tmp" + dead + "-0", "a.itbinary.tmp" + dead + "-17",
                              "x.tmp" + std::to_string(::getpid()) + "-0"};
  for (const std::string& name : kept) test::overwrite(folder.file(name), "x");
  for (const std::string& name : left) test::overwrite(folder.file(name), "x");
  tidy_folder(folder.path());
  for (const std::string& name : kept) {
    CAPTURE(name);
    CHECK(::access(folder.file(name).c_str(), F_OK) == 0);
  }
  for (const std::string& name : left) {
    CAPTURE(name);
    CHECK(::access(folder.file(name).c_str(), F_OK) != 0);
  }
  tidy_folder(folder.file("nothing there"));
}

TEST_CASE(
    "a folder that holds nothing but ours is closed to others, any other one is left as it is") {
  const TemporaryFolder folder;
  const std::string_view names[] = {"journal", "captures"};
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  test::overwrite(folder.file("journal"), "x");
  test::overwrite(folder.file("journal.new"), "x");
  REQUIRE(::mkdir(folder.file("captures").c_str(), 0755) == 0);
  test::overwrite(folder.file("settings"), "x");
  tidy_folder(folder.path(), names);
  CHECK(mode_of(folder.path()) == 0755);
  REQUIRE(::unlink(folder.file("settings").c_str()) == 0);
  tidy_folder(folder.path(), names);
  CHECK(mode_of(folder.path()) == 0700);
  CHECK(mode_of(folder.file("captures")) == 0755);
  tidy_folder(folder.file("captures"));
  CHECK(mode_of(folder.file("captures")) == 0700);
}

TEST_CASE("a relative path is meant from where the process is now") {
  char* here = ::getcwd(nullptr, 0);
  REQUIRE(here != nullptr);
  CHECK(absolute_path("state/x") == std::string(here) + "/state/x");
  CHECK(absolute_path("/state") == "/state");
  CHECK(absolute_path("").empty());
  std::free(here);
}

}  // namespace
}  // namespace idletune
