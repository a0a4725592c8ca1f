#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "platform/os/boot.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace idletune {
namespace {

void write_boot_id(const test::TemporaryFolder& root, const std::string& id) {
  const std::string folder = root.file("proc/sys/kernel/random");
  std::filesystem::create_directories(folder);
  const std::vector<std::uint8_t> bytes(id.begin(), id.end());
  REQUIRE(write_file_atomically(folder + "/boot_id", bytes).ok());
}

TEST_CASE("the same boot has the same identity, another boot another") {
  const test::TemporaryFolder root;
  write_boot_id(root, "11111111-2222-3333-4444-555555555555\n");
  const std::uint64_t first = boot_identity(root.path());
  CHECK(first != 0);
  CHECK(boot_identity(root.path()) == first);
  write_boot_id(root, "99999999-2222-3333-4444-555555555555\n");
  CHECK(boot_identity(root.path()) != first);
}

TEST_CASE("a system that does not say has identity 0") {
  const test::TemporaryFolder root;
  CHECK(boot_identity(root.path()) == 0);
  write_boot_id(root, "");
  CHECK(boot_identity(root.path()) == 0);
}

TEST_CASE("this system's identity is stable") { CHECK(boot_identity() == boot_identity()); }

}  // namespace
}  // namespace idletune
