#include "platform/binary_cache.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/os/temporary_folder.hpp"

using namespace idletune;
using namespace idletune::test;
using Lookup = idletune::BinaryCache::Lookup;

namespace {

constexpr std::uint64_t kRoomy = 1 << 20;
constexpr std::size_t kHeaderBytes = 56;

std::vector<std::uint8_t> binary_of(std::size_t size, std::uint8_t first = 1) {
  std::vector<std::uint8_t> binary(size);
  for (std::size_t i = 0; i < size; ++i) binary[i] = static_cast<std::uint8_t>(first + 7 * i);
  return binary;
}

void make_old(const std::string& path, int days) {
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * days));
}

}  // namespace

TEST_CASE("what is stored is found, under its key only") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path(), kRoomy);
  const BinaryKey key{1, 2, 3};
  std::vector<std::uint8_t> found;
  CHECK(cache.find(key, found) == Lookup::absent);
  const auto binary = binary_of(1000);
  REQUIRE(cache.store(key, binary).ok());
  CHECK(cache.find(key, found) == Lookup::hit);
  CHECK(found == binary);
  for (const BinaryKey& other : {BinaryKey{9, 2, 3}, BinaryKey{1, 9, 3}, BinaryKey{1, 2, 9},
                                 BinaryKey{2, 1, 3}, BinaryKey{0, 0, 0}}) {
    CHECK(cache.find(other, found) == Lookup::absent);
  }
  BinaryCache again(folder.path(), kRoomy);
  CHECK(again.find(key, found) == Lookup::hit);
}

TEST_CASE("the bytes of a file are those that the format's page gives") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path(), kRoomy);
  const std::vector<std::uint8_t> digits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  REQUIRE(cache.store({0x0102030405060708, 0x1112131415161718, 0x2122232425262728}, digits).ok());
  REQUIRE(folder.files().size() == 1);
  const std::string file = content_of(folder.files()[0]);
  REQUIRE(file.size() == kHeaderBytes + 9);
  CHECK(file.substr(0, 8) == std::string("ITBINARY"));
  CHECK(file.substr(8, 8) == std::string("\1\0\0\0\x38\0\0\0", 8));
  CHECK(file.substr(16, 8) == "\x08\x07\x06\x05\x04\x03\x02\x01");
  CHECK(file.substr(24, 8) == "\x18\x17\x16\x15\x14\x13\x12\x11");
  CHECK(file.substr(32, 8) == "\x28\x27\x26\x25\x24\x23\x22\x21");
  CHECK(file.substr(40, 8) == std::string("\x09\0\0\0\0\0\0\0", 8));
  CHECK(file.substr(48, 4) == "\x83\x92\x06\xe3");  // CRC-32C of "123456789" is 0xe3069283
  CHECK(file.substr(56) == "123456789");
}

TEST_CASE("a file with any bit flipped is damaged, and deleted") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path(), kRoomy);
  const BinaryKey key{1, 2, 3};
  REQUIRE(cache.store(key, binary_of(40)).ok());
  REQUIRE(folder.files().size() == 1);
  const std::string path = folder.files()[0];
  const std::string intact = content_of(path);
  std::vector<std::uint8_t> found;
  for (std::size_t bit = 0; bit < intact.size() * 8; ++bit) {
    std::string flipped = intact;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    overwrite(path, flipped);
    CAPTURE(bit);
    REQUIRE(cache.find(key, found) == Lookup::damaged);
    REQUIRE(folder.files().empty());
    REQUIRE(cache.find(key, found) == Lookup::absent);
  }
  overwrite(path, intact);
  CHECK(cache.find(key, found) == Lookup::hit);
}

TEST_CASE("a file cut anywhere or with bytes after its end is damaged") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path(), kRoomy);
  const BinaryKey key{1, 2, 3};
  REQUIRE(cache.store(key, binary_of(40)).ok());
  const std::string path = folder.files()[0];
  const std::string intact = content_of(path);
  std::vector<std::uint8_t> found;
  for (std::size_t size = 0; size < intact.size(); ++size) {
    overwrite(path, intact.substr(0, size));
    CAPTURE(size);
    REQUIRE(cache.find(key, found) == Lookup::damaged);
  }
  overwrite(path, intact + '\0');
  CHECK(cache.find(key, found) == Lookup::damaged);
}

TEST_CASE("an intact file under the name of another key is damaged") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path(), kRoomy);
  REQUIRE(cache.store({1, 2, 3}, binary_of(40, 1)).ok());
  const std::string first = folder.files()[0];
  const std::string content = content_of(first);
  cache.drop({1, 2, 3});
  REQUIRE(cache.store({1, 2, 4}, binary_of(40, 2)).ok());
  overwrite(folder.files()[0], content);
  std::vector<std::uint8_t> found;
  CHECK(cache.find({1, 2, 4}, found) == Lookup::damaged);
}

TEST_CASE("the files unused for longest go first, and the newest stays") {
  TemporaryFolder folder;
  const std::uint64_t room_for_four = 4 * (kHeaderBytes + 100) + 50;
  BinaryCache cache(folder.path(), room_for_four);
  std::vector<std::uint8_t> found;
  for (std::uint64_t i = 0; i < 4; ++i) {
    REQUIRE(cache.store({i, 0, 0}, binary_of(100)).ok());
    for (const std::string& path : folder.files()) {
      // Each store makes everything before it a day older.
      const auto age = std::filesystem::last_write_time(path) - std::chrono::hours(24 * 2);
      std::filesystem::last_write_time(path, age);
    }
  }
  CHECK(folder.files().size() == 4);
  CHECK(cache.find({0, 0, 0}, found) == Lookup::hit);  // the oldest, but now used
  REQUIRE(cache.store({4, 0, 0}, binary_of(100)).ok());
  CHECK(folder.files().size() == 4);
  CHECK(cache.find({1, 0, 0}, found) == Lookup::absent);
  for (std::uint64_t kept : {0, 2, 3, 4}) {
    CAPTURE(kept);
    CHECK(cache.find({kept, 0, 0}, found) == Lookup::hit);
  }
}

TEST_CASE("without a limit programs are found, too") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path(), UINT64_MAX);
  REQUIRE(cache.store({1, 2, 3}, binary_of(1000)).ok());
  std::vector<std::uint8_t> found;
  for (int i = 0; i < 2; ++i) CHECK(cache.find({1, 2, 3}, found) == Lookup::hit);
}

TEST_CASE("what cannot be read for a moment is there afterwards") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path(), kRoomy);
  REQUIRE(cache.store({1, 2, 3}, binary_of(1000)).ok());
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  const rlimit none{3, usual.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  std::vector<std::uint8_t> found;
  const Lookup short_of_files = cache.find({1, 2, 3}, found);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
  CHECK(short_of_files == Lookup::absent);
  CHECK(cache.find({1, 2, 3}, found) == Lookup::hit);
}

TEST_CASE("a binary too large for the cache is not stored") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path(), 4000);
  CHECK(cache.store({1, 0, 0}, binary_of(1001)).ok());
  CHECK(folder.files().empty());
  CHECK(cache.store({1, 0, 0}, binary_of(1000)).ok());
  CHECK(folder.files().size() == 1);
}

TEST_CASE("the cache leaves half of a small disk to the journal") {
  CHECK(BinaryCache::within(1000, 0, 5000) == 1000);
  CHECK(BinaryCache::within(1000, 600, 800) == 700);
  CHECK(BinaryCache::within(1000, 600, 0) == 300);
  CHECK(BinaryCache::within(1000, 0, 0) == 0);
}

TEST_CASE("files of others in the folder are left alone, dead writers' ones are not") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path(), 4 * 1000);
  overwrite(folder.path() + "/notes.txt", std::string(100000, 'x'));
  overwrite(folder.path() + "/0123456789abcdef.itbinary.tmp-old", std::string(100, 'x'));
  overwrite(folder.path() + "/0123456789abcdef.itbinary.tmp-new", std::string(100, 'x'));
  make_old(folder.path() + "/0123456789abcdef.itbinary.tmp-old", 1);
  make_old(folder.path() + "/notes.txt", 1000);
  REQUIRE(cache.store({1, 0, 0}, binary_of(1000)).ok());
  const auto files = folder.files();
  CHECK(std::filesystem::exists(folder.path() + "/notes.txt"));
  CHECK(std::filesystem::exists(folder.path() + "/0123456789abcdef.itbinary.tmp-new"));
  CHECK(!std::filesystem::exists(folder.path() + "/0123456789abcdef.itbinary.tmp-old"));
  std::vector<std::uint8_t> found;
  CHECK(cache.find({1, 0, 0}, found) == Lookup::hit);
}

TEST_CASE("the folder is created when needed, and one that cannot be is an error") {
  TemporaryFolder folder;
  BinaryCache cache(folder.path() + "/programs", kRoomy);
  std::vector<std::uint8_t> found;
  CHECK(cache.find({1, 0, 0}, found) == Lookup::absent);
  CHECK(!std::filesystem::exists(folder.path() + "/programs"));
  REQUIRE(cache.store({1, 0, 0}, binary_of(10)).ok());
  CHECK(cache.find({1, 0, 0}, found) == Lookup::hit);
  BinaryCache hopeless(folder.path() + "/a/b", kRoomy);
  const idletune::Status status = hopeless.store({1, 0, 0}, binary_of(10));
  CHECK(status.code() == idletune::StatusCode::not_found);
  CHECK(status.message().find(folder.path() + "/a/b") != std::string::npos);
}

TEST_CASE("a cache without a folder holds nothing") {
  BinaryCache cache;
  CHECK(!cache.enabled());
  CHECK(cache.store({1, 0, 0}, binary_of(10)).ok());
  std::vector<std::uint8_t> found;
  CHECK(cache.find({1, 0, 0}, found) == Lookup::absent);
}
