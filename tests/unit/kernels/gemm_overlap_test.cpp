// Whether matrices in one buffer overlap, against looking at every element.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "kernels/blas/placed_product.hpp"
#include "models/core/random.hpp"

namespace {

using namespace idletune;
using gemm::Rectangle;

Rectangle drawn(Random& random) {
  Rectangle rectangle;
  rectangle.begin = static_cast<std::int64_t>(random.below(30));
  rectangle.rows = 1 + static_cast<std::int64_t>(random.below(4));
  rectangle.columns = 1 + static_cast<std::int64_t>(random.below(4));
  rectangle.leading = rectangle.columns + static_cast<std::int64_t>(random.below(6));
  return rectangle;
}

std::set<std::int64_t> elements(const Rectangle& rectangle) {
  std::set<std::int64_t> all;
  for (std::int64_t row = 0; row < rectangle.rows; ++row) {
    for (std::int64_t column = 0; column < rectangle.columns; ++column) {
      all.insert(rectangle.begin + row * rectangle.leading + column);
    }
  }
  return all;
}

bool share(const std::set<std::int64_t>& x, const std::set<std::int64_t>& y) {
  return std::any_of(x.begin(), x.end(),
                     [&](std::int64_t element) { return y.count(element) > 0; });
}

}  // namespace

TEST_CASE("two matrices overlap where they share an element") {
  Random random(1);
  int overlapping = 0;
  for (int i = 0; i < 5000; ++i) {
    Rectangle x = drawn(random);
    const Rectangle y = drawn(random);
    if (i % 2 == 0) x.leading = std::max(x.columns, y.leading);
    const bool expected = share(elements(x), elements(y));
    overlapping += expected ? 1 : 0;
    REQUIRE(gemm::overlap(x, y) == expected);
    REQUIRE(gemm::overlap(y, x) == expected);
  }
  CHECK(overlapping > 1000);
  CHECK(overlapping < 4000);
}

TEST_CASE("the results of a batch overlap where two of them share an element") {
  Random random(2);
  int overlapping = 0;
  for (int i = 0; i < 3000; ++i) {
    const Rectangle x = drawn(random);
    const auto count = static_cast<std::int64_t>(1 + random.below(5));
    const auto stride = static_cast<std::int64_t>(random.below(20));
    bool expected = false;
    for (std::int64_t first = 0; first < count; ++first) {
      for (std::int64_t second = first + 1; second < count; ++second) {
        Rectangle y = x;
        y.begin += (second - first) * stride;
        expected = expected || share(elements(x), elements(y));
      }
    }
    overlapping += expected ? 1 : 0;
    REQUIRE(gemm::overlap_each_other(x, count, stride) == expected);
  }
  CHECK(overlapping > 500);
  CHECK(overlapping < 2500);
}

TEST_CASE("what takes other columns of the same rows shares no element") {
  Random random(3);
  int apart = 0;
  for (int i = 0; i < 20000; ++i) {
    Rectangle x = drawn(random), y = drawn(random);
    x.leading = y.leading = 10 + static_cast<std::int64_t>(random.below(8));
    const auto count = static_cast<std::int64_t>(1 + random.below(4));
    const auto x_stride = static_cast<std::int64_t>(random.below(6));
    const auto y_stride = static_cast<std::int64_t>(random.below(6));
    if (!gemm::take_other_columns(x, x_stride, y, y_stride, count)) continue;
    ++apart;
    for (std::int64_t first = 0; first < count; ++first) {
      for (std::int64_t second = 0; second < count; ++second) {
        Rectangle x_of = x, y_of = y;
        x_of.begin += first * x_stride;
        y_of.begin += second * y_stride;
        REQUIRE_FALSE(share(elements(x_of), elements(y_of)));
      }
    }
  }
  CHECK(apart > 1000);
}

// As many steps as results; one for each of their rows would take days.
TEST_CASE("whether results interleave is told without looking at each of their rows") {
  const std::int64_t rows = std::int64_t{1} << 31;
  CHECK_FALSE(gemm::overlap_each_other({0, rows, 1, 32768}, 32768, 1));
  CHECK(gemm::overlap_each_other({0, rows, 1, 32767}, 32768, 1));
  for (std::int64_t column = 1; column < 32768; ++column) {
    REQUIRE_FALSE(gemm::overlap({0, rows, 1, 32768}, {column, rows, 1, 32768}));
  }
}
