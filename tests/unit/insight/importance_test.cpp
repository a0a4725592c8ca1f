#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "models/host/insight/importance.hpp"
#include "tests/unit/insight/small_history.hpp"

using namespace idletune;

TEST_CASE("bins are equally frequent and equal times share the bin of the first of them") {
  CHECK(equal_frequency_bins({4, 1, 3, 2}) == std::vector<std::uint32_t>{1, 0, 1, 0});
  CHECK(equal_frequency_bins({5, 5, 5, 5}) == std::vector<std::uint32_t>{0, 0, 0, 0});
  CHECK(equal_frequency_bins({1, 2, 2, 3}) == std::vector<std::uint32_t>{0, 0, 0, 1});
  CHECK(time_bin_count(2) == 2);
  CHECK(time_bin_count(143) == 2);
  CHECK(time_bin_count(144) == 3);
  CHECK(time_bin_count(1024) == 8);
  CHECK(time_bin_count(1000000) == 32);
}

TEST_CASE("a labelling says all about itself and nothing about an independent one") {
  const std::vector<std::uint32_t> a{0, 0, 1, 1, 2, 2, 3, 3};
  const std::vector<std::uint32_t> b{0, 1, 0, 1, 0, 1, 0, 1};
  CHECK(mutual_information(a, a) == doctest::Approx(2));
  CHECK(mutual_information(a, b) == doctest::Approx(0));
  CHECK(mutual_information(b, {0, 0, 0, 0, 0, 0, 0, 0}) == 0);
}

TEST_CASE("the expected information is the mean over all permutations") {
  const std::vector<std::uint32_t> a{0, 0, 0, 1, 1, 2};
  std::vector<std::uint32_t> b{0, 0, 1, 1, 1, 2};
  std::vector<std::size_t> order(a.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  double sum = 0;
  int permutations = 0;
  do {
    std::vector<std::uint32_t> permuted;
    for (const std::size_t i : order) permuted.push_back(b[i]);
    sum += mutual_information(a, permuted);
    ++permutations;
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(permutations == 720);
  CHECK(expected_mutual_information(a, b) == doctest::Approx(sum / permutations).epsilon(1e-12));
}

TEST_CASE(
    "a parameter that decides says more than one that does not, and correction takes chance away") {
  const History h = test::product_history(
      {{"decides", {1, 2, 4, 8}}, {"idle", {0, 1, 2, 3, 4, 5, 6, 7}}},
      [](const auto& v) { return static_cast<double>(v[0] * 100 + v[1] * v[1] % 7); });
  const Importance importance = importance_of(h);
  REQUIRE(importance.parameters.size() == 2);
  const ParameterImportance& decides = importance.parameters[0];
  const ParameterImportance& idle = importance.parameters[1];
  CHECK(importance.correct == 32);
  CHECK(importance.bins == 2);
  CHECK(importance.time_entropy == doctest::Approx(1));
  CHECK(decides.values == 4);
  CHECK(decides.information == doctest::Approx(1));
  CHECK(decides.relative == 1);
  CHECK(idle.information < 0.05);
  CHECK(idle.corrected == 0);
  CHECK(decides.corrected < decides.information);
  CHECK(decides.failure_information == 0);
}

TEST_CASE("failures have an information of their own and constraint violations none") {
  const History h = test::product_history(
      {{"fails", {1, 2}}, {"time", {1, 2, 3, 4}}, {"invalid", {0, 1}}}, [](const auto& v) {
        if (v[2] == 1) return -1.0;
        return v[0] == 2 ? 0.0 : static_cast<double>(v[1]);
      });
  const Importance importance = importance_of(h);
  CHECK(importance.correct == 4);
  CHECK(importance.failed == 4);
  CHECK(importance.parameters[0].failure_information == doctest::Approx(1));
  CHECK(importance.parameters[0].information == 0);
  CHECK(importance.parameters[1].failure_information == doctest::Approx(0));
  CHECK(importance.parameters[1].information == doctest::Approx(1));
  CHECK(importance.parameters[2].failure_information == 0);
}

TEST_CASE("nothing is said where nothing or one thing ran") {
  const auto none =
      importance_of(test::product_history({{"p", {1, 2}}}, [](const auto&) { return 0.0; }));
  CHECK(none.correct == 0);
  CHECK(none.parameters[0].information == 0);
  CHECK(none.parameters[0].relative == 0);
  const auto one =
      importance_of(test::product_history({{"p", {1}}}, [](const auto&) { return 1.0; }));
  CHECK(one.parameters[0].information == 0);
}
