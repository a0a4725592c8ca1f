#include "platform/os/memory_file.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;
using idletune::test::TemporaryFolder;

namespace {

constexpr std::size_t kBytes = 4096;

// Removes the file that is about a folder, in /dev/shm; also one that a folder left which was here.
struct Traces {
  Traces() { clear(); }
  ~Traces() { clear(); }
  void clear() const {
    std::error_code ignored;
    std::filesystem::remove(path(), ignored);
  }
  std::string path() const {
    struct stat status {};
    ::stat(folder.path().c_str(), &status);
    return "/dev/shm/idletune-" + std::to_string(::geteuid()) + "-" +
           std::to_string(status.st_dev) + "-" + std::to_string(status.st_ino);
  }
  Result<std::unique_ptr<MemoryFile>> open() const {
    return MemoryFile::open(folder.path(), kBytes, {"/dev/shm"});
  }
  TemporaryFolder folder;
};

bool has_memory() {
  if (Traces().open().ok()) return true;
  idletune::test::skip("/dev/shm is no tmpfs that takes files");
  return false;
}

}  // namespace

TEST_CASE("what a killed process wrote is there for the next" * doctest::test_suite("tmpfs")) {
  if (!has_memory()) return;
  const Traces traces;
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = traces.open();
    if (!file.ok()) ::_exit(1);
    static_cast<volatile std::uint8_t*>((*file)->data())[kBytes - 1] = 42;
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  const auto file = required(traces.open());
  const auto* bytes = static_cast<const std::uint8_t*>(file->data());
  CHECK(bytes[kBytes - 1] == 42);
  CHECK(bytes[0] == 0);
  struct stat found {};
  REQUIRE(::stat(traces.path().c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
  CHECK(found.st_size == kBytes);
}

TEST_CASE("two folders have two files, and one folder the same by any path" *
          doctest::test_suite("tmpfs")) {
  if (!has_memory()) return;
  const Traces one, other;
  const auto a = required(one.open()), b = required(other.open());
  static_cast<std::uint8_t*>(a->data())[0] = 1;
  CHECK(static_cast<std::uint8_t*>(b->data())[0] == 0);
  const auto again = required(MemoryFile::open(
      one.folder.path() + "/../" + one.folder.path().substr(one.folder.path().rfind('/') + 1),
      kBytes, {"/nowhere", "/dev/shm"}));
  CHECK(static_cast<std::uint8_t*>(again->data())[0] == 1);
  again->remove();
  CHECK(static_cast<std::uint8_t*>(a->data())[0] == 1);  // whoever has it keeps it
  const auto anew = required(one.open());
  CHECK(static_cast<std::uint8_t*>(anew->data())[0] == 0);
}

TEST_CASE("what others could write, or is on a disk, is not used" * doctest::test_suite("tmpfs")) {
  if (!has_memory()) return;
  const Traces traces;
  REQUIRE(traces.open().ok());
  REQUIRE(::chmod(traces.path().c_str(), 0666) == 0);
  CHECK(traces.open().code() == StatusCode::unsupported);
  REQUIRE(::unlink(traces.path().c_str()) == 0);
  REQUIRE(::symlink("/dev/null", traces.path().c_str()) == 0);
  CHECK(traces.open().code() == StatusCode::unsupported);
  REQUIRE(::unlink(traces.path().c_str()) == 0);
  REQUIRE(::mkfifo(traces.path().c_str(), 0600) == 0);
  CHECK(traces.open().code() == StatusCode::unsupported);
  CHECK(MemoryFile::open(traces.folder.path(), kBytes, {"/proc"}).code() ==
        StatusCode::unsupported);
  CHECK(MemoryFile::open("/nowhere", kBytes, {"/dev/shm"}).code() == StatusCode::not_found);
}

TEST_CASE("where files may not be as large there is none, and nobody dies of it" *
          doctest::test_suite("tmpfs")) {
  if (!has_memory()) return;
  const Traces traces;
  const pid_t child = ::fork();
  if (child == 0) {
    rlimit small{kBytes / 2, kBytes / 2};
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0) ::_exit(2);
    ::_exit(traces.open().code() == StatusCode::unsupported ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
