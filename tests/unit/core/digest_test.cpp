#include "models/core/digest.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string_view>
#include <vector>

#include "tests/bytes_of.hpp"

using namespace idletune;
using idletune::test::bytes_of;

TEST_CASE("crc32c gives the published values") {
  CHECK(crc32c(bytes_of("")) == 0);
  CHECK(crc32c(bytes_of("123456789")) == 0xe3069283u);
  // RFC 3720, B.4
  const std::vector<std::uint8_t> zeros(32, 0), ones(32, 0xff);
  CHECK(crc32c(zeros) == 0x8a9136aau);
  CHECK(crc32c(ones) == 0x62a8ab43u);
  std::vector<std::uint8_t> ascending(32);
  for (std::size_t i = 0; i < 32; ++i) ascending[i] = static_cast<std::uint8_t>(i);
  CHECK(crc32c(ascending) == 0x46dd794eu);
}

TEST_CASE("crc32c of parts continues to the value of the whole") {
  const std::string_view text = "123456789";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CHECK(crc32c(bytes_of(text.substr(cut)), crc32c(bytes_of(text.substr(0, cut)))) == 0xe3069283u);
  }
}

// The expected values were computed by a second implementation, in Python.
TEST_CASE("digests are the same on every architecture and in every version") {
  CHECK(Digest().value() == 0xe220a8397b1dcdafull);
  CHECK(digest_of(std::string_view("")) == 0x773c1df4c78f90d2ull);
  CHECK(digest_of(std::string_view("idletune")) == 0x42cff8d104b8116aull);
  CHECK(Digest().add(std::uint64_t{42}).add(std::string_view("saxpy")).value() ==
        0xe0a96e145c092a16ull);
  CHECK(digest_of(Shape{256, 128, 64}) == 0x546b0a8d2cd9692eull);
  CHECK(digest_of(Configuration{64, -1, 0}) == 0xe4520b1459196e0aull);
}

TEST_CASE("where one value ends and the next begins counts") {
  const auto pair = [](std::string_view a, std::string_view b) {
    return Digest().add(a).add(b).value();
  };
  CHECK(pair("ab", "c") != pair("a", "bc"));
  CHECK(pair("", "abc") != pair("abc", ""));
  CHECK(Digest().add(std::uint64_t{1}).value() != Digest().add(std::string_view("\1")).value());
  CHECK(digest_of(Shape{1, 2}) != digest_of(Shape{2, 1}));
  CHECK(digest_of(Problem({1, 2}, {0.5})) != digest_of(Problem({1, 2}, {0.25})));
  CHECK(digest_of(Problem({1, 2}, {0.5})) != digest_of(Problem({1, 2})));
  CHECK(digest_of(Problem({1}, {0})) != digest_of(Problem({1, 0})));
  CHECK(digest_of(Configuration{1}) != digest_of(Configuration{1, 0}));
  CHECK(digest_of(std::string_view("a")) != digest_of(std::string_view("a\0", 2)));
}

TEST_CASE("small inputs have distinct digests") {
  std::set<std::uint64_t> seen;
  for (std::int64_t a = -100; a < 100; ++a) {
    for (std::int64_t b = -100; b < 100; ++b) seen.insert(digest_of(Configuration{a, b}));
  }
  CHECK(seen.size() == 40000);
}
