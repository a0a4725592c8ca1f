#include "agent/host/explore/order.hpp"

#include <doctest/doctest.h>

#include <set>

#include "models/host/pack/pack.hpp"
#include "tests/unit/explore/scripted_runner.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using explore::Order;

namespace {

std::vector<std::uint64_t> keys(const Space& space, const Order& order) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t i = 0; i < order.size(); ++i) result.push_back(space.key(order.at(i)));
  return result;
}

Space unnumbered_space() {
  PackOptions options;
  options.max_edges = 1;
  auto space = required(build_space(
      {{"A", ParameterKind::other, {1, 2, 3, 4}, 1}, {"B", ParameterKind::other, {1, 2, 3, 4}, 1}},
      {{"A != B", {}}}, {}, options));
  REQUIRE_FALSE(space.indexed());
  return space;
}

}  // namespace

TEST_CASE("the whole space is visited, each configuration once, shuffled by the seed") {
  const auto package = explore::test::twelve();
  const Space& space = package->space();
  auto order = Order::make(space, 1, std::nullopt);
  auto other = Order::make(space, 2, std::nullopt);
  REQUIRE(order.ok());
  REQUIRE(other.ok());
  CHECK(order->size() == 12);
  CHECK(order->is_whole_space());
  const std::vector<std::uint64_t> visited = keys(space, *order);
  std::set<std::uint64_t> enumerated;
  Configuration configuration;
  for (Space::Cursor cursor = space.cursor(); cursor.next(configuration);) {
    enumerated.insert(space.key(configuration));
  }
  CHECK(std::set<std::uint64_t>(visited.begin(), visited.end()) == enumerated);
  CHECK(visited != keys(space, *other));
}

TEST_CASE("a longer sample of the same seed begins with the shorter one") {
  const auto package = explore::test::twelve();
  auto shorter = Order::make(package->space(), 9, 5);
  auto longer = Order::make(package->space(), 9, 9);
  REQUIRE(shorter.ok());
  REQUIRE(longer.ok());
  CHECK(shorter->size() == 5);
  CHECK_FALSE(shorter->is_whole_space());
  std::vector<std::uint64_t> beginning = keys(package->space(), *longer);
  beginning.resize(5);
  CHECK(beginning == keys(package->space(), *shorter));
}

TEST_CASE("more samples than there are configurations are all of them") {
  const auto package = explore::test::twelve();
  auto order = required(Order::make(package->space(), 1, 1000));
  CHECK(order.size() == 12);
  CHECK(order.is_whole_space());
}

TEST_CASE("a space without numbers can be sampled without repetition, and needs a number") {
  const Space space = unnumbered_space();
  CHECK(Order::make(space, 1, std::nullopt).code() == StatusCode::unsupported);
  auto order = required(Order::make(space, 1, 8));
  const std::vector<std::uint64_t> visited = keys(space, order);
  CHECK(std::set<std::uint64_t>(visited.begin(), visited.end()).size() == 8);
  for (std::uint64_t i = 0; i < order.size(); ++i) CHECK(space.contains(order.at(i)));
  auto longer = required(Order::make(space, 1, 100));
  CHECK(longer.size() == 12);
  std::vector<std::uint64_t> beginning = keys(space, longer);
  beginning.resize(8);
  CHECK(beginning == visited);
}
