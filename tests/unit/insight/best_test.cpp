#include "models/host/insight/best.hpp"

#include <doctest/doctest.h>

#include "tests/unit/insight/small_history.hpp"

using namespace idletune;

namespace {

// A history over one parameter p = 1, 2, ...; a time of 0 stands for a failure.
History history_of(const std::string& device, const std::vector<double>& times) {
  test::SmallParameter parameter{"p", {}};
  for (std::size_t i = 1; i <= times.size(); ++i) {
    parameter.values.push_back(static_cast<std::int64_t>(i));
  }
  History history =
      test::product_history({parameter}, [&](const std::vector<std::int64_t>& values) {
        return times[static_cast<std::size_t>(values[0] - 1)];
      });
  history.device = device;
  return history;
}

}  // namespace

TEST_CASE("the fastest configurations come first, and equal times share a rank") {
  const auto best = best_configurations(history_of("A", {40, 20, 0, 20, 30}), 3, {});
  REQUIRE(best.size() == 3);
  CHECK(best[0].row == 1);
  CHECK(best[1].row == 3);
  CHECK(best[1].rank == 1);
  CHECK(best[2].row == 4);
  CHECK(best[2].rank == 3);
  CHECK(best[2].relative == doctest::Approx(20.0 / 30.0));
  CHECK(best[0].elsewhere.empty());
}

TEST_CASE("a configuration has its rank on every other device of the kernel") {
  const History a = history_of("A", {10, 20, 30});
  const History b = history_of("B", {9, 3, 0});
  History other = history_of("C", {1, 2, 3});
  other.kernel = "another";
  const auto best = best_configurations(a, 10, {&a, &b, &other});
  REQUIRE(best.size() == 3);
  REQUIRE(best[0].elsewhere.size() == 1);
  CHECK(best[0].elsewhere[0].device == "B");
  CHECK(best[0].elsewhere[0].of == 2);
  CHECK(best[0].elsewhere[0].rank == 2);
  CHECK(best[0].elsewhere[0].relative == doctest::Approx(3.0 / 9.0));
  CHECK_FALSE(best[2].elsewhere[0].rank.has_value());
}

TEST_CASE("a history in which nothing ran has no best configuration") {
  CHECK(best_configurations(history_of("A", {0, 0}), 5, {}).empty());
}
