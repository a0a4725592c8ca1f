#include <doctest/doctest.h>

#include "agent/host/lab/steps/device_spaces.hpp"
#include "models/host/insight/fractions.hpp"
#include "tests/unit/insight/small_history.hpp"

using namespace idletune;

namespace {

History on(const std::string& device, std::int64_t last, double factor) {
  std::vector<std::int64_t> values;
  for (std::int64_t v = 1; v <= last; ++v) values.push_back(v);
  History history = test::product_history(
      {{"p", values}}, [&](const auto& v) { return factor * static_cast<double>(v[0]); });
  history.device = device;
  return history;
}

}  // namespace

TEST_CASE(
    "repeats are one entry, devices of a space share its number, other spaces have their own") {
  const History first = on("Tesla V100-PCIE-32GB", 10, 1);
  const History second = on("V100", 10, 3);
  const History other = on("GTX 1070", 10, 5);
  const History small = on("V100", 3, 1);
  const auto entries = device_spaces({&first, &second, &other, &small});
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].histories == std::vector<std::size_t>{0, 1});
  CHECK(entries[0].history.best_time_ns() == 2e6);  // the median of two
  CHECK(entries[1].histories == std::vector<std::size_t>{2});
  CHECK(entries[0].space == entries[1].space);
  CHECK(entries[2].space != entries[0].space);
}

TEST_CASE("failures that a file left out are added from the other devices") {
  const History whole = on("A100", 10, 1);
  History part = on("V100", 9, 1);
  const auto entries = device_spaces({&whole, &part});
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].dropped == 0);
  CHECK(entries[1].dropped == 1);
  CHECK(entries[1].history.rows() == 10);
  CHECK(distribution_of(entries[1].history).valid == 10);
  CHECK_FALSE(entries[1].history.correct(9));
  CHECK(entries[1].history.parameters[0].integer(9) == 10);
  part.valid_count = 10;  // a sample
  CHECK(device_spaces({&whole, &part})[1].dropped == 0);
}
