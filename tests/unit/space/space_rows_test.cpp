#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "models/space/space.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

const std::vector<std::string> kNames{"WG", "UNROLL"};

Result<Space> rows(const std::vector<std::int64_t>& values) {
  return Space::from_rows(kNames, {}, {}, values);
}
std::string refusal(const Result<Space>& space) {
  CHECK(space.code() == StatusCode::invalid_argument);
  return space.status().message();
}

}  // namespace

TEST_CASE("measured rows are a space in the order of the table") {
  const auto space = required(rows({64, 2, 32, 1, 64, -1}));
  CHECK(space.backing() == SpaceBacking::rows);
  CHECK(space.indexed());
  CHECK(space.valid_count() == 3);
  CHECK(space.combinations() == 6);
  CHECK(space.at(0) == Configuration{64, 2});
  CHECK(space.at(2) == Configuration{64, -1});
  CHECK(space.at(3).empty());
  CHECK(space.index_of(Configuration{32, 1}) == 1);
  CHECK_FALSE(space.index_of(Configuration{32, 2}).has_value());
  CHECK_FALSE(space.contains(Configuration{33, 1}));
  CHECK_FALSE(space.contains(Configuration{32}));
  CHECK(space.parameter_values(1).size() == 3);
  CHECK(space.parameter_values(1)[0] == -1);
  CHECK(space.parameter_index("UNROLL") == 1);
  CHECK_FALSE(space.parameter_index("NONE").has_value());
  CHECK(space.constraints().empty());
  Space::Cursor cursor = space.cursor(1);
  Configuration configuration;
  REQUIRE(cursor.next(configuration));
  CHECK(configuration == Configuration{32, 1});
  REQUIRE(cursor.next(configuration));
  CHECK(configuration == Configuration{64, -1});
  CHECK_FALSE(cursor.next(configuration));
}

TEST_CASE("given value lists and kinds are kept, also values that no row has") {
  const std::vector<ParameterKind> kinds{ParameterKind::work_group, ParameterKind::unrolling};
  const std::vector<std::vector<std::int64_t>> values{{128, 64}, {1, 2, 4}};
  const std::vector<std::int64_t> table{64, 4};
  const auto space = required(Space::from_rows(kNames, kinds, values, table));
  CHECK(space.parameter_kind(1) == ParameterKind::unrolling);
  CHECK(space.parameter_values(0)[0] == 128);
  CHECK(space.combinations() == 6);
  CHECK(space.value_position(1, 4) == 2);
  CHECK_FALSE(space.value_position(1, 3).has_value());
  const std::vector<std::int64_t> other{64, 8};
  CHECK(refusal(Space::from_rows(kNames, kinds, values, other)).find("row 0: a value") == 0);
}

TEST_CASE("tables that are no space are refused with the row") {
  CHECK(refusal(rows({64, 2, 32})).find("rows of 2 values") != std::string::npos);
  CHECK(refusal(rows({64, 2, 32, 1, 64, 2})) == "row 2 repeats row 0");
  CHECK(refusal(rows({})).find("1 to 65535 values") != std::string::npos);
  CHECK(refusal(Space::from_rows({}, {}, {}, {})).find("a name for every parameter") !=
        std::string::npos);
  const std::vector<std::string> same{"A", "A"};
  const std::vector<std::int64_t> row{1, 2};
  CHECK(refusal(Space::from_rows(same, {}, {}, row)).find("occurs twice") != std::string::npos);
  const std::vector<std::string> many(33, "P");
  const std::vector<std::int64_t> wide(33, 1);
  CHECK(refusal(Space::from_rows(many, {}, {}, wide)).find("1 to 32") != std::string::npos);
}

TEST_CASE("a large table finds each of its rows") {
  std::vector<std::int64_t> table;
  for (std::int64_t i = 0; i < 30000; ++i) {
    table.push_back(i % 173);
    table.push_back(i / 173 * 3 - 100);
  }
  const auto space = required(rows(table));
  for (std::uint64_t i = 0; i < space.valid_count(); ++i) {
    REQUIRE(space.index_of(space.at(i)) == i);
  }
  Random random(1);
  for (int i = 0; i < 100; ++i) CHECK(space.contains(space.sample(random)));
}

TEST_CASE("the digest of a table depends on its rows and their order, keys do not") {
  const auto a = rows({1, 2, 3, 4}), b = rows({3, 4, 1, 2}), c = rows({1, 2, 3, 4, 5, 6});
  REQUIRE((a.ok() && b.ok() && c.ok()));
  CHECK(a->digest() != b->digest());
  CHECK(a->digest() != c->digest());
  CHECK(a->digest() == rows({1, 2, 3, 4})->digest());
  CHECK(a->key(Configuration{1, 2}) == c->key(Configuration{1, 2}));
  CHECK(a->key(Configuration{1, 2}) != a->key(Configuration{2, 1}));
}

TEST_CASE("a space of nothing has nothing") {
  const Space space;
  Random random(1);
  Configuration configuration;
  CHECK(space.parameter_count() == 0);
  CHECK(space.valid_count() == 0);
  CHECK(space.at(0).empty());
  CHECK(space.sample(random).empty());
  CHECK_FALSE(space.contains(Configuration{}));
  CHECK_FALSE(space.cursor().next(configuration));
  CHECK_FALSE(Space::Cursor().next(configuration));
  CHECK(space.count_valid(5) == 0);
}

TEST_CASE("kinds have the names of the description") {
  for (std::uint8_t i = 0; i < kParameterKindCount; ++i) {
    const auto kind = static_cast<ParameterKind>(i);
    CHECK(parameter_kind_from_name(parameter_kind_name(kind)) == kind);
  }
  CHECK(std::string(parameter_kind_name(ParameterKind::work_group)) == "work_group");
  CHECK_FALSE(parameter_kind_from_name("tiling").has_value());
  CHECK(std::string(parameter_kind_name(static_cast<ParameterKind>(99))) == "other");
}
