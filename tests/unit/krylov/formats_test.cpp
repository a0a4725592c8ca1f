#include "kernels/krylov/formats.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/krylov/product_check.hpp"
#include "models/core/random.hpp"
#include "tests/unit/krylov/matrices.hpp"
#include "tests/unit/krylov/stored_product.hpp"

using namespace idletune;
using krylov::SparseFormat;
using krylov::SparsityPattern;
using krylov::StoredPattern;
using test::numbers_of;

namespace {

using Indices = std::vector<std::int32_t>;
constexpr std::uint64_t kRoomy = std::uint64_t{1} << 30;

StoredPattern convert(const SparsityPattern& pattern, SparseFormat format) {
  auto stored = krylov::convert(pattern, format, sizeof(double), kRoomy);
  REQUIRE_MESSAGE(stored.ok(), stored.status().to_string());
  return std::move(*stored);
}

// Each place is an entry with the given chance; values are whole numbers, so that products are
// exact in any order.
krylov::SparseMatrix random_matrix(std::int32_t rows, std::int32_t columns, double chance,
                                   Random& random) {
  krylov::SparseMatrix matrix;
  matrix.pattern.rows = rows;
  matrix.pattern.columns = columns;
  for (std::int32_t row = 0; row < rows; ++row) {
    // Some rows are empty, one is full.
    const double share = row == rows / 2 ? 1 : row % 5 == 1 ? 0 : chance;
    for (std::int32_t column = 0; column < columns; ++column) {
      if (random.uniform() >= share) continue;
      matrix.pattern.column.push_back(column);
      matrix.values.push_back(static_cast<double>(random.below(19)) - 9);
    }
    matrix.pattern.row_start.push_back(static_cast<std::int32_t>(matrix.values.size()));
  }
  return matrix;
}

}  // namespace

TEST_CASE("each format of a small matrix, by hand") {
  // 1 . 2
  // . 3 .
  // 4 5 6
  const SparsityPattern pattern = {3, 3, {0, 2, 3, 6}, {0, 2, 1, 0, 1, 2}};
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  using Numbers = std::vector<double>;

  const StoredPattern csr = convert(pattern, SparseFormat::csr);
  CHECK(csr.row_start == pattern.row_start);
  CHECK(csr.column == pattern.column);
  CHECK(numbers_of(csr, values) == values);

  const StoredPattern coo = convert(pattern, SparseFormat::coo);
  CHECK(coo.row == Indices{0, 0, 1, 2, 2, 2});
  CHECK(coo.column == pattern.column);
  CHECK(numbers_of(coo, values) == values);

  const StoredPattern dia = convert(pattern, SparseFormat::dia);
  CHECK(dia.offset == Indices{-2, -1, 0, 2});
  CHECK(numbers_of(dia, values) == Numbers{0, 0, 4, 0, 0, 5, 1, 3, 6, 2, 0, 0});

  const StoredPattern ell = convert(pattern, SparseFormat::ell);
  CHECK(ell.width == 3);
  CHECK(ell.column == Indices{0, 1, 0, 2, 0, 1, 0, 0, 2});
  CHECK(numbers_of(ell, values) == Numbers{1, 3, 4, 2, 0, 5, 0, 0, 6});

  const StoredPattern hyb = convert(pattern, SparseFormat::hyb);
  CHECK(hyb.width == 3);  // one row of three is a third
  const SparsityPattern longer = {4, 3, {0, 2, 3, 6, 7}, {0, 2, 1, 0, 1, 2, 0}};
  const StoredPattern rest = convert(longer, SparseFormat::hyb);
  CHECK(rest.width == 2);
  CHECK(rest.row == Indices{2});
  CHECK(rest.column == Indices{0, 1, 0, 0, 2, 0, 1, 0, 2});
  CHECK(numbers_of(rest, {1, 2, 3, 4, 5, 6, 7}) == Numbers{1, 3, 4, 7, 2, 0, 5, 0, 6});
}

TEST_CASE("slices are as wide as their longest row, and sorting is kept to its window") {
  // 40 rows of one entry each, but for row 3 with three and row 39 with none.
  SparsityPattern pattern = {40, 3, {0}, {}};
  for (std::int32_t row = 0; row < 40; ++row) {
    for (std::int32_t k = 0; k < (row == 3 ? 3 : row == 39 ? 0 : 1); ++k)
      pattern.column.push_back(k);
    pattern.row_start.push_back(static_cast<std::int32_t>(pattern.column.size()));
  }
  const StoredPattern sell = convert(pattern, SparseFormat::sell);
  CHECK(sell.row_start == Indices{0, 3 * 32, 4 * 32});
  CHECK(sell.row[0] == 3);
  CHECK(sell.row[1] == 0);
  CHECK(sell.row[4] == 4);
  CHECK(sell.row[39] == 39);
  CHECK(sell.slot[3] == 0);  // row 3's entries stand a slice apart
  CHECK(sell.slot[4] == 32);
  CHECK(sell.slot[5] == 64);
  CHECK(sell.column[64] == 2);
  // A long row of the second window stays there.
  SparsityPattern long_one = {2000, 5, {0}, {}};
  for (std::int32_t row = 0; row < 2000; ++row) {
    for (std::int32_t k = 0; k < (row == 1999 ? 5 : 1); ++k) long_one.column.push_back(k);
    long_one.row_start.push_back(static_cast<std::int32_t>(long_one.column.size()));
  }
  const StoredPattern windows = convert(long_one, SparseFormat::sell);
  CHECK(windows.row[krylov::kSortedRows] == 1999);
  CHECK(windows.slots == (2000 + 31) / 32 * 32 + 4 * 32);
}

TEST_CASE("products of all formats are those of the rows, also of rectangles") {
  Random random(5);
  for (const auto& [rows, columns, chance] : {std::tuple{1, 1, 1.0},
                                              {30, 30, 0.1},
                                              {17, 40, 0.3},
                                              {40, 17, 0.05},
                                              {25, 25, 0.0},
                                              {1100, 3, 0.4}}) {
    const krylov::SparseMatrix matrix = random_matrix(rows, columns, chance, random);
    REQUIRE(krylov::check(matrix.pattern).ok());
    std::vector<double> x(static_cast<std::size_t>(columns));
    for (double& number : x) number = static_cast<double>(random.below(9)) - 4;
    std::vector<double> expected(static_cast<std::size_t>(rows));
    krylov::multiply(matrix.pattern, matrix.values, x, expected);
    for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
      const auto format = static_cast<SparseFormat>(i);
      CAPTURE(krylov::sparse_format_name(format));
      const StoredPattern stored = convert(matrix.pattern, format);
      std::vector<double> got(expected.size(), 99);
      test::multiply(stored, numbers_of(stored, matrix.values), x, got);
      CHECK(got == expected);
      const std::size_t indices =
          stored.row_start.size() + stored.row.size() + stored.column.size() + stored.offset.size();
      CHECK(krylov::stored_bytes(matrix.pattern, format, 8) ==
            8 * static_cast<std::uint64_t>(stored.slots) + 4 * indices);
    }
  }
}

TEST_CASE("faults that are put into a conversion are found by the check of products") {
  Random random(11);
  const krylov::SparseMatrix matrix = random_matrix(60, 40, 0.2, random);
  std::vector<double> x(40);
  for (double& number : x) number = 1 + random.uniform();
  std::vector<double> y(60);
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    const auto format = static_cast<SparseFormat>(i);
    CAPTURE(krylov::sparse_format_name(format));
    const StoredPattern right = convert(matrix.pattern, format);
    const auto product_of = [&](const StoredPattern& stored) {
      test::multiply(stored, numbers_of(stored, matrix.values), x, y);
      return y;
    };
    const std::vector<double> expected = product_of(right);
    CHECK(krylov::is_product(matrix, x, expected, true));
    int found = 0;
    for (int fault = 0; fault < 200; ++fault) {
      // Two different numbers of one array change places; some places hold nothing.
      StoredPattern wrong = right;
      Indices* const arrays[] = {&wrong.row_start, &wrong.row, &wrong.column, &wrong.offset,
                                 &wrong.slot};
      Indices& array = *arrays[random.below(5)];
      if (array.size() < 2) continue;
      const auto first = static_cast<std::size_t>(random.below(array.size() - 1));
      if (&array == &wrong.row_start) {
        if (array[first] == array[first + 1] || first == 0) continue;
        array[first] = array[first + 1];
      } else {
        const auto second = static_cast<std::size_t>(random.below(array.size()));
        if (array[first] == array[second]) continue;
        std::swap(array[first], array[second]);
      }
      double largest = 0;
      const std::vector<double> got = product_of(wrong);
      for (std::size_t k = 0; k < got.size(); ++k)
        largest = std::max(largest, std::fabs(got[k] - expected[k]));
      CHECK(krylov::is_product(matrix, x, got, true) == (largest < 1e-12));
      found += largest < 1e-12 ? 0 : 1;
    }
    CHECK(found > 20);
  }
}

TEST_CASE("a format that would explode is refused before it is made") {
  // An arrow: a full row, a full column and the diagonal.
  constexpr std::int32_t kRows = 200000;
  SparsityPattern arrow = {kRows, kRows, {0}, {}};
  for (std::int32_t row = 0; row < kRows; ++row) {
    if (row == 0) {
      for (std::int32_t column = 0; column < kRows; ++column) arrow.column.push_back(column);
    } else {
      arrow.column.push_back(0);
      arrow.column.push_back(row);
    }
    arrow.row_start.push_back(static_cast<std::int32_t>(arrow.column.size()));
  }
  for (const SparseFormat format : {SparseFormat::dia, SparseFormat::ell}) {
    CHECK(krylov::stored_bytes(arrow, format, 4) > std::uint64_t{1} << 37);
    const auto stored = krylov::convert(arrow, format, 4, UINT64_MAX);
    CHECK(stored.status().code() == StatusCode::out_of_memory);
    CHECK(stored.status().message().find(krylov::sparse_format_name(format)) == 0);
  }
  CHECK(krylov::convert(arrow, SparseFormat::hyb, 4, kRoomy).ok());
  const std::uint64_t needed = krylov::stored_bytes(arrow, SparseFormat::coo, 4);
  CHECK(krylov::convert(arrow, SparseFormat::coo, 4, needed).ok());
  CHECK(!krylov::convert(arrow, SparseFormat::coo, 4, needed - 1).ok());
}

TEST_CASE("arrays that are no matrix are told by the row") {
  const SparsityPattern good = {3, 3, {0, 2, 3, 6}, {0, 2, 1, 0, 1, 2}};
  CHECK(krylov::check(good).ok());
  SparsityPattern wrong = good;
  wrong.column[4] = 3;
  CHECK(krylov::check(wrong).message() == "row 2: column 3, expected 0 to 2");
  wrong = good;
  wrong.column[1] = 0;
  CHECK(krylov::check(wrong).message() == "row 0: columns do not ascend");
  wrong = good;
  wrong.row_start[2] = 1;
  CHECK(krylov::check(wrong).message().find("row 1: ") == 0);
  wrong = good;
  wrong.row_start[3] = 5;
  CHECK(krylov::check(wrong).message().find("row starts end at 5") == 0);
  wrong = good;
  wrong.row_start.pop_back();
  CHECK(krylov::check(wrong).message().find("row starts: 3 numbers, expected 4") == 0);
  wrong.rows = INT32_MAX;
  CHECK(krylov::check(wrong).message().find("expected at most 2147467264 of each") !=
        std::string::npos);
}

TEST_CASE("the most slots leave room for a group's step in 32 bits") {
  constexpr std::int32_t kLargestGroup = 512;
  CHECK(krylov::kMostIndices - 1 <= INT32_MAX - kLargestGroup * krylov::kSliceRows);
}
