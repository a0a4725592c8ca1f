#include "agent/host/explore/shape_list.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/required.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace idletune;
using namespace idletune::explore;
using idletune::test::bytes_of;

namespace {

const ShapeColumns kProduct = {{"M", "N", "K"}, {}, {}};

Result<std::vector<Shape>> read(const std::string& text, const ShapeColumns& columns = kProduct) {
  return read_shapes(bytes_of(text), "list.csv", columns);
}

std::string error_of(const std::string& text, const ShapeColumns& columns = kProduct) {
  return read(text, columns).status().to_string();
}

}  // namespace

TEST_CASE("a list names the dimensions in any order and case, beside other columns") {
  const auto shapes = required(read("kind,k, n ,M\r\nconv,3,2,1\n\nfc,30,20,10\nfc again,3,2,1\n"));
  CHECK(shapes == std::vector<Shape>{{1, 2, 3}, {10, 20, 30}});
}

TEST_CASE("what is the same at all problems is given beside the list, features too") {
  const ShapeColumns columns = {{"M", "BATCH"}, {"mean"}, {{"BATCH", 1}}};
  const auto shapes = required(read("m,mean,batch\n4,2.5,77\n", columns));
  CHECK(shapes == std::vector<Shape>{Shape({4, 1}, {2.5})});
  CHECK(error_of("m,mean\n4,-1\n", columns) ==
        "corrupt: list.csv, line 2: mean is '-1', expected a number of at least 0");
}

TEST_CASE("a list that cannot be used is one error that names file, line and what was expected") {
  CHECK(error_of("m,n\n1,2\n") ==
        "corrupt: list.csv, line 1: no column K: expected a line of names with each of the "
        "kernel's dimensions, or a value for those that are the same everywhere");
  for (const char* value : {"", "x", "-1", "1.5", "1e99", "nan", "0x"}) {
    CAPTURE(value);
    CHECK(error_of("m,n,k\n1,2,3\n\n1,2," + std::string(value) + "\n") ==
          "corrupt: list.csv, line 4: K is '" + std::string(value) +
              "', expected a whole number from 0 to 2^40");
  }
  CHECK(error_of("m,n,k\n1,2\n") == "corrupt: list.csv, line 2: 2 values instead of 3");
  CHECK(error_of("m,n,k\n") == "corrupt: list.csv: no problem: expected one in each further line");
  CHECK(error_of("").find("list.csv") != std::string::npos);
  std::string many = "m,n,k\n";
  for (std::size_t i = 0; i <= kMaxListedShapes; ++i) many += "1,1,1\n";
  CHECK(error_of(many) == "corrupt: list.csv: 100001 problems, expected at most 100000");
}

TEST_CASE("the sets known by name are those of the publication") {
  const auto go2 = read(named_shape_table("go2"));
  const auto eighth = read(named_shape_table("go2/8"));
  const auto po2 = read(named_shape_table("po2"));
  REQUIRE(go2.ok());
  REQUIRE(eighth.ok());
  REQUIRE(po2.ok());
  CHECK(go2->size() == 3375);
  CHECK(go2->back() == Shape{3840, 3840, 3840});
  CHECK(eighth->size() == 3375);
  CHECK(eighth->front() == Shape{32, 32, 32});
  CHECK(po2->size() == 216);
  CHECK(po2->front() == Shape{64, 64, 64});
  CHECK(po2->back() == Shape{2048, 2048, 2048});
  CHECK(named_shape_table("list.csv").empty());
}
