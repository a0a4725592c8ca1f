#include "platform/os/environment.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <string>

#include "platform/os/process.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/skip.hpp"

namespace idletune {
namespace {

constexpr std::chrono::seconds kWait{60};

// What a program sees of IDLETUNE_OS_TEST=chosen.
std::string seen_by(const std::string& program) {
  ProcessOptions options;
  options.program = program;
  options.arguments = {"trusted environment"};
  options.environment = {"IDLETUNE_OS_TEST=chosen"};
  auto child = ChildProcess::start(options);
  if (!child.ok()) return "(did not start)";
  std::uint8_t text[64];
  const auto got = (*child)->channel().receive(MutableBytes(text), kWait);
  return got.ok() ? std::string(reinterpret_cast<const char*>(text), *got) : "(nothing)";
}

TEST_CASE("a variable that is unset or empty is none") {
  ::setenv("IDLETUNE_OS_TEST", "value", 1);
  CHECK(environment("IDLETUNE_OS_TEST") == std::string("value"));
  ::setenv("IDLETUNE_OS_TEST", "", 1);
  CHECK(environment("IDLETUNE_OS_TEST") == nullptr);
  ::unsetenv("IDLETUNE_OS_TEST");
  CHECK(environment("IDLETUNE_OS_TEST") == nullptr);
}

TEST_CASE("a program with other rights than whoever starts it takes nothing from the environment" *
          doctest::test_suite("own children")) {
  const auto own = self_executable_folder();
  REQUIRE(own.ok());
  const test::TemporaryFolder folder;
  const std::string copy = folder.file("child");
  std::filesystem::copy_file(*own + "/idletune_os_child", copy);
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  REQUIRE(::chmod(copy.c_str(), 0755) == 0);
  if (seen_by(copy) != "chosen") return test::skip(copy + " cannot be started here");
  constexpr uid_t kOther = 65534;
  if (::chown(copy.c_str(), kOther, static_cast<gid_t>(-1)) != 0 ||
      ::chmod(copy.c_str(), 04755) != 0) {
    return test::skip("giving a file to another user needs a right that this process lacks");
  }
  struct statvfs system {};
  if (::statvfs(copy.c_str(), &system) != 0 || (system.f_flag & ST_NOSUID) != 0) {
    return test::skip("set-user-id has no effect in " + folder.path());
  }
  CHECK(seen_by(copy) == "(unset)");
}

}  // namespace
}  // namespace idletune
