#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "models/core/digest.hpp"
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

TEST_CASE("boards differ by any of their serial numbers, and are the same at every start") {
  std::set<std::uint64_t> seen;
  const test::TemporaryFolder root;
  CHECK(board_identity(root.path()) == 0);
  for (const char* file :
       {"etc/machine-id", "proc/device-tree/serial-number", "sys/devices/soc0/serial_number"}) {
    const std::filesystem::path path = root.file(file);
    std::filesystem::create_directories(path.parent_path());
    for (const std::string serial : {"1424720012345", "1424720012346"}) {
      const std::vector<std::uint8_t> bytes(serial.begin(), serial.end());
      REQUIRE(write_file_atomically(path.string(), bytes).ok());
      const std::uint64_t identity = board_identity(root.path());
      CHECK(seen.insert(identity).second);
      CHECK(board_identity(root.path()) == identity);
      // Salted: not what anybody else makes of the same number.
      CHECK(identity != digest_of(Bytes(bytes)));
    }
  }
}

TEST_CASE("this system's identity is stable") { CHECK(boot_identity() == boot_identity()); }

}  // namespace
}  // namespace idletune
