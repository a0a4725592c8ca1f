#include "models/core/order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/core/random.hpp"

using namespace idletune;

TEST_CASE("order_of agrees with a stable sort of numbers with many equals") {
  Random random(7);
  for (std::size_t count : {0, 1, 2, 3, 17, 100, 1000}) {
    std::vector<std::uint64_t> values(count);
    for (std::uint64_t& value : values) value = random.below(10);
    std::vector<std::uint32_t> expected(count);
    for (std::size_t i = 0; i < count; ++i) expected[i] = static_cast<std::uint32_t>(i);
    const auto before = [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; };
    std::stable_sort(expected.begin(), expected.end(), before);
    CHECK(order_of(count, before) == expected);
  }
}

TEST_CASE("sort_stably moves elements into order and keeps equal ones as they were") {
  std::vector<std::string> names = {"zone10", "zone2", "b1", "zone1", "a1"};
  sort_stably(names,
              [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  CHECK(names == std::vector<std::string>{"b1", "a1", "zone2", "zone1", "zone10"});
  std::vector<std::string> none;
  sort_stably(none, std::less<std::string>());
  CHECK(none.empty());
}

TEST_CASE("sort_ascending sorts a part of an array alone") {
  double values[] = {3, 1, 2, 0};
  sort_ascending(Span<double>(values, 3));
  CHECK(std::vector<double>(values, values + 4) == std::vector<double>{1, 2, 3, 0});
  std::vector<std::chrono::nanoseconds> times = {std::chrono::nanoseconds(5),
                                                 std::chrono::nanoseconds(-5)};
  sort_ascending(times);
  CHECK(times.front().count() == -5);
}
