#include <vector>

#include <doctest/doctest.h>

#include "agent/search/rank_coding.hpp"
#include "models/space/product_space.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

TEST_CASE("codes are ranks of values, whatever their declared order, and lead back") {
  const std::vector<std::string> names{"a", "fixed", "b"};
  const std::vector<std::vector<std::int64_t>> values{{64, 8, 16}, {7}, {1, 0}};
  const auto space = required(product_space(names, values));
  const RankCoding coding(space);
  REQUIRE(coding.columns() == 2);
  CHECK(coding.levels()[0] == 3);
  CHECK(coding.levels()[1] == 2);
  std::vector<std::uint16_t> codes(2);
  REQUIRE(coding.code(Configuration{64, 7, 0}, codes));
  CHECK(codes == std::vector<std::uint16_t>{2, 0});
  REQUIRE(coding.code(Configuration{8, 7, 1}, codes));
  CHECK(codes == std::vector<std::uint16_t>{0, 1});
  for (std::uint64_t i = 0; i < space.valid_count(); ++i) {
    REQUIRE(coding.code(space.at(i), codes));
    CHECK(coding.decode(codes) == space.at(i));
  }
  CHECK_FALSE(coding.code(Configuration{9, 7, 1}, codes));
  CHECK_FALSE(coding.code(Configuration{8, 7}, codes));
}

TEST_CASE("a space without a choice has one column of zeros") {
  const std::vector<std::string> names{"a"};
  const std::vector<std::vector<std::int64_t>> values{{5}};
  const auto space = required(product_space(names, values));
  const RankCoding coding(space);
  std::vector<std::uint16_t> codes(1, 9);
  REQUIRE(coding.columns() == 1);
  REQUIRE(coding.code(Configuration{5}, codes));
  CHECK(codes[0] == 0);
  CHECK(coding.decode(codes) == Configuration{5});
}
