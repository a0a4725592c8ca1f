#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>
#include <string>

#include "platform/os/storage.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/skip.hpp"

namespace idletune {
namespace {

using test::TemporaryFolder;

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::string text_of(const Result<std::vector<std::uint8_t>>& bytes) {
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
  return std::string(bytes->begin(), bytes->end());
}

std::unique_ptr<Storage> open_in(const TemporaryFolder& folder) {
  auto storage = open_posix_storage(folder.file("state"));
  REQUIRE_MESSAGE(storage.ok(), storage.status().to_string());
  return std::move(*storage);
}

TEST_CASE("a missing folder is made, one level deep") {
  const TemporaryFolder folder;
  CHECK(open_posix_storage(folder.file("new")).ok());
  CHECK(open_posix_storage(folder.file("new")).ok());
  const auto deep = open_posix_storage(folder.file("no/such"));
  CHECK(deep.code() == StatusCode::not_found);
  CHECK(deep.status().message().find("no/such") != std::string::npos);
}

TEST_CASE("a file in the folder's place is refused") {
  const TemporaryFolder folder;
  REQUIRE(write_file_atomically(folder.file("plain"), bytes_of("x")).ok());
  CHECK(open_posix_storage(folder.file("plain")).code() == StatusCode::invalid_argument);
}

TEST_CASE("what is appended is read back, also by a file opened again") {
  const TemporaryFolder folder;
  const auto storage = open_in(folder);
  {
    auto file = storage->create("log");
    REQUIRE(file.ok());
    CHECK((*file)->append(bytes_of("one ")).ok());
    CHECK((*file)->append(bytes_of("two ")).ok());
    CHECK((*file)->sync().ok());
  }
  auto file = storage->open_append("log");
  REQUIRE(file.ok());
  CHECK((*file)->append(bytes_of("three")).ok());
  CHECK(text_of(storage->read("log", 100)) == "one two three");
  CHECK(storage->sync_folder().ok());
  CHECK(storage->create("log").ok());
  CHECK(text_of(storage->read("log", 100)).empty());
}

TEST_CASE("a file goes on being written under its new name") {
  const TemporaryFolder folder;
  const auto storage = open_in(folder);
  auto file = storage->create("log.new");
  REQUIRE(file.ok());
  REQUIRE((*file)->append(bytes_of("a")).ok());
  REQUIRE(storage->rename("log.new", "log").ok());
  REQUIRE((*file)->append(bytes_of("b")).ok());
  CHECK(text_of(storage->read("log", 100)) == "ab");
  CHECK(storage->read("log.new", 100).code() == StatusCode::not_found);
}

TEST_CASE("truncating, removing and listing") {
  const TemporaryFolder folder;
  const auto storage = open_in(folder);
  for (const char* name : {"b", "a", "c"}) {
    auto file = storage->create(name);
    REQUIRE(file.ok());
    REQUIRE((*file)->append(bytes_of("0123456789")).ok());
  }
  CHECK(storage->truncate("a", 4).ok());
  CHECK(text_of(storage->read("a", 100)) == "0123");
  CHECK(storage->remove("b").ok());
  CHECK(storage->remove("b").code() == StatusCode::not_found);
  REQUIRE(::mkdir(folder.file("state/folder").c_str(), 0755) == 0);
  const auto names = storage->list();
  REQUIRE(names.ok());
  CHECK(*names == std::vector<std::string>{"a", "c"});
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
  REQUIRE(write_file_atomically(folder.file("f"), bytes_of("12345")).ok());
  CHECK(text_of(read_file(folder.file("f"), 5)) == "12345");
  CHECK(read_file(folder.file("f"), 4).code() == StatusCode::out_of_memory);
}

TEST_CASE("a full medium is no_space" * doctest::test_suite("dev full")) {
  if (::access("/dev/full", W_OK) != 0) {
    return test::skip("no /dev/full");
  }
  auto devices = open_posix_storage("/dev");
  REQUIRE(devices.ok());
  auto full = (*devices)->open_append("full");
  REQUIRE(full.ok());
  CHECK((*full)->append(bytes_of("x")).code() == StatusCode::no_space);
}

TEST_CASE("a medium that cannot be written is read_only" * doctest::test_suite("sysfs")) {
  struct stat info {};
  if (::stat("/sys/kernel", &info) != 0) {
    return test::skip("no /sys");
  }
  CHECK(open_posix_storage("/sys/kernel/idletune-test").code() == StatusCode::read_only);
  auto storage = open_posix_storage("/sys/kernel");
  REQUIRE(storage.ok());
  CHECK((*storage)->create("idletune-test").code() == StatusCode::read_only);
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
  CHECK(write_file_atomically(folder.file("f"), bytes_of("old")).ok());
  CHECK(write_file_atomically(folder.file("f"), bytes_of("new")).ok());
  CHECK(text_of(read_file(folder.file("f"), 100)) == "new");
  CHECK((*open_posix_storage(folder.path()))->list()->size() == 1);
  const Status missing = write_file_atomically(folder.file("no/f"), bytes_of("x"));
  CHECK(missing.code() == StatusCode::not_found);
  CHECK(missing.message().find("no/f") != std::string::npos);
  REQUIRE(::mkdir(folder.file("d").c_str(), 0755) == 0);
  REQUIRE(write_file_atomically(folder.file("d/inside"), bytes_of("x")).ok());
  CHECK_FALSE(write_file_atomically(folder.file("d"), bytes_of("x")).ok());
  CHECK((*open_posix_storage(folder.path()))->list()->size() == 1);
}

}  // namespace
}  // namespace idletune
