// What host code does with sparse matrices of the most rows and the most entries, and with one
// more.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/krylov/features.hpp"
#include "kernels/krylov/host_system.hpp"
#include "kernels/krylov/matrix_market.hpp"
#include "kernels/krylov/product_check.hpp"
#include "kernels/krylov/system_check.hpp"
#include "tests/campaigns/host_sizes/idle_device.hpp"
#include "tests/campaigns/host_sizes/long_memory.hpp"
#include "tests/unit/kernels/corner_device.hpp"
#include "tests/unit/krylov/stored_product.hpp"

using namespace idletune;
using namespace idletune::krylov;
using test::kBeyond;
using test::kMost;
using test::multiply;
using test::numbers_of;

namespace {

constexpr std::int32_t kRows = test::kMost;
constexpr std::int32_t kEnds = 1000;  // rows at either end that have an entry

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

// Entries in the first and the last rows only, `apart` columns from the diagonal inwards.
SparseMatrix most_rows(std::int32_t columns = kRows) {
  SparseMatrix matrix;
  SparsityPattern& pattern = matrix.pattern;
  pattern.rows = kRows;
  pattern.columns = columns;
  pattern.row_start = std::vector<std::int32_t>(size(kRows) + 1);
  for (std::int32_t row = 0; row < kRows; ++row) {
    if (row < kEnds || row >= kRows - kEnds) {
      pattern.column.push_back(row);
      matrix.values.push_back(static_cast<double>(matrix.values.size()) + 1);
    }
    pattern.row_start[size(row) + 1] = static_cast<std::int32_t>(pattern.column.size());
  }
  return matrix;
}

// Rows that are full up to the same column; 524287 of them have the most entries.
constexpr std::int32_t kLength = 4096;
SparseMatrix most_entries(std::int32_t rows, double value, std::int32_t empty_rows = 0) {
  SparseMatrix matrix;
  SparsityPattern& pattern = matrix.pattern;
  pattern.rows = pattern.columns = rows + empty_rows;
  for (std::int32_t row = 1; row <= rows; ++row) pattern.row_start.push_back(row * kLength);
  pattern.row_start.resize(size(pattern.rows) + 1, rows * kLength);
  pattern.column = std::vector<std::int32_t>(size(rows) * size(kLength));
  for (std::size_t k = 0; k < pattern.column.size(); ++k)
    pattern.column[k] = static_cast<std::int32_t>(k % size(kLength));
  matrix.values = std::vector<double>(pattern.column.size(), value);
  return matrix;
}

StoredPattern converted(const SparsityPattern& pattern, SparseFormat format) {
  auto stored = convert(pattern, format, sizeof(double), UINT64_MAX);
  REQUIRE_MESSAGE(stored.ok(), stored.status().to_string());
  return std::move(*stored);
}
std::string refusal(const SparsityPattern& pattern, SparseFormat format) {
  return convert(pattern, format, sizeof(double), UINT64_MAX).status().to_string();
}

void check_ends(const SparseMatrix& matrix, const std::vector<double>& y) {
  for (std::size_t k = 0; k < size(kEnds); ++k) {
    const std::size_t last = y.size() - size(kEnds) + k;
    REQUIRE(y[k] == matrix.values[k]);
    REQUIRE(y[last] == matrix.values[size(kEnds) + k]);
  }
}

SolverOptions in_format(SparseFormat format, Precision precision) {
  SolverOptions options;
  options.choosing = Choosing::none;
  options.precision = precision;
  options.fixed_format = true;
  options.format = format;
  options.format_limit_bytes = UINT64_MAX;
  return options;
}

// Products and solves with a matrix of zeros, whose product the device that computes nothing has
// right.
void run(const SparseMatrix& matrix, SparseFormat format, Precision precision, Method method) {
  CAPTURE(sparse_format_name(format));
  test::IdleDevice device(test::limits_of("opencl"));
  test::IdleQueue queue(device);
  auto solver = Solver::make(device, queue, matrix, in_format(format, precision));
  REQUIRE_MESSAGE(solver.ok(), solver.status().to_string());
  std::vector<double> b(size(matrix.pattern.rows), 1.0);
  std::vector<double> x(size(matrix.pattern.columns), 0.0);
  b.back() = 2;
  Status status = solver->set_values(matrix.values);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  status = solver->multiply(b, x);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  CHECK(solver->chosen().format == format);
  CHECK(x.front() + x.back() == 0);
  SolveOptions options;
  options.method = method;
  const auto report = solver->solve(b, x, options);
  REQUIRE_MESSAGE(report.ok(), report.status().to_string());
  CHECK(report->ended != Ended::converged);
  // What is changed in place means nothing where the middle of an array repeats itself.
  if (sizeof(double) * b.size() >= test::kLong) return;
  CHECK(report->true_residual == 1);
  CHECK(x.front() + x.back() == 0);
}

}  // namespace

TEST_CASE("norms and powers of two of 2^31 + 1 numbers") {
  std::vector<double> numbers(size(kBeyond), 1.0);
  CHECK(norm_of(numbers) == std::sqrt(static_cast<double>(kBeyond)));
  numbers.back() = std::ldexp(1.0, 40);
  CHECK(exponent_above(numbers) == 41);
  CHECK(fitting(numbers, sizeof(float)).exponent == -41);
  CHECK(check_numbers(numbers, Precision::f64, "b").ok());
  numbers.back() = HUGE_VAL;
  CHECK(std::isinf(norm_of(numbers)));
  CHECK(check_numbers(numbers, Precision::f64, "b").message().rfind("b, row 2147483648:", 0) == 0);
}

TEST_CASE("what is beyond the most rows, columns and entries is refused by name") {
  SparsityPattern pattern;
  pattern.rows = INT32_MAX;
  CHECK(check(pattern).message() ==
        "a matrix of 2147483647 by 0 with 0 entries, expected at most 2147467264 of each");
  std::swap(pattern.rows, pattern.columns);
  CHECK(check(pattern).message() ==
        "a matrix of 0 by 2147483647 with 0 entries, expected at most 2147467264 of each");
  pattern.columns = 1;
  pattern.column = std::vector<std::int32_t>(size(kBeyond));
  CHECK(check(pattern).message() ==
        "a matrix of 0 by 1 with 2147483649 entries, expected at most 2147467264 of each");
  CHECK(read_matrix_market("%%MatrixMarket matrix coordinate real general\n2147483649 1 1\n1 1 1\n",
                           "m")
            .status()
            .message() == "m:2: expected rows and columns from 0 to 2147467264");
}

TEST_CASE("matrices of the most rows") {
  const SparseMatrix matrix = most_rows();
  const SparsityPattern& pattern = matrix.pattern;
  REQUIRE(check(pattern).ok());
  CHECK(check_values(pattern, matrix.values, Precision::f32).ok());
  CHECK(check_symmetric(matrix).ok());
  CHECK(reciprocal_diagonal(matrix, PowerOfTwo()).status().message().rfind("row 1000: ", 0) == 0);
  const auto features = features_of(pattern);
  CHECK(features[0] == kRows);
  CHECK(features[1] == 2 * kEnds);
  CHECK(features[4] == 1);
  CHECK(features[5] == 0);
  const std::vector<double> x(size(kRows), 1.0);
  std::vector<double> y(size(kRows));
  multiply(pattern, matrix.values, x, y);
  check_ends(matrix, y);
  CHECK(is_product(matrix, x, y, true, PowerOfTwo()));
  y.back() += 1;
  CHECK_FALSE(is_product(matrix, x, y, true, PowerOfTwo()));
  const std::int64_t slots[kSparseFormats] = {2 * kEnds, 2 * kEnds, kRows,
                                              kRows,     2 * kEnds, 64 * kSliceRows};
  for (std::size_t i = 0; i < kSparseFormats; ++i) {
    const auto format = static_cast<SparseFormat>(i);
    CAPTURE(sparse_format_name(format));
    const StoredPattern stored = converted(pattern, format);
    CHECK(stored.slots == slots[i]);
    CHECK(stored_bytes(pattern, format, 8) >= 8 * size(stored.slots));
    multiply(stored, numbers_of(stored, matrix.values), x, y);
    check_ends(matrix, y);
  }
}

TEST_CASE("entries in the corners of a matrix of the most rows and columns") {
  for (const bool upper : {false, true}) {
    SparseMatrix matrix;
    SparsityPattern& pattern = matrix.pattern;
    pattern.rows = pattern.columns = kRows;
    pattern.row_start = std::vector<std::int32_t>(size(kRows) + 1, upper ? 1 : 0);
    pattern.row_start.front() = 0;
    pattern.row_start.back() = 1;
    pattern.column = {upper ? kRows - 1 : 0};
    matrix.values = {3};
    REQUIRE(check(pattern).ok());
    const StoredPattern stored = converted(pattern, SparseFormat::dia);
    REQUIRE(stored.offset.size() == 1);
    CHECK(stored.offset[0] == (upper ? kRows - 1 : 1 - kRows));
    std::vector<double> y(size(kRows));
    const std::vector<double> x(size(kRows), 1.0);
    multiply(stored, numbers_of(stored, matrix.values), x, y);
    CHECK(y.front() == (upper ? 3 : 0));
    CHECK(y.back() == (upper ? 0 : 3));
  }
}

TEST_CASE("solves of the most rows") {
  SparseMatrix matrix = most_rows();
  for (double& value : matrix.values) value = 0;
  run(matrix, SparseFormat::csr, Precision::f64, Method::cg);
  run(matrix, SparseFormat::ell, Precision::mixed, Method::bicgstab);
}

TEST_CASE("matrices of the most entries") {
  SparseMatrix matrix = most_entries(524287, 1);
  const SparsityPattern& pattern = matrix.pattern;
  REQUIRE(pattern.entries() == size(kMost));
  matrix.values.back() = 3;
  REQUIRE(check(pattern).ok());
  CHECK(check_values(pattern, matrix.values, Precision::f32).ok());
  CHECK(features_of(pattern)[1] == static_cast<double>(kMost));
  CHECK(features_of(pattern)[2] == kLength);
  const std::vector<double> x(size(pattern.columns), 1.0);
  std::vector<double> y(size(pattern.rows));
  const auto check_product = [&] {
    CHECK(y.front() == kLength);
    CHECK(y.back() == kLength + 2);
  };
  multiply(pattern, matrix.values, x, y);
  check_product();
  for (const SparseFormat format :
       {SparseFormat::csr, SparseFormat::coo, SparseFormat::ell, SparseFormat::hyb}) {
    CAPTURE(sparse_format_name(format));
    const StoredPattern stored = converted(pattern, format);
    CHECK(stored.slots == kMost);
    CHECK(stored.column.back() == kLength - 1);
    if (!stored.row.empty()) CHECK(stored.row.back() == 524286);
    if (!stored.slot.empty()) CHECK(stored.slot.back() == kMost - 1);
    // In the middle the slots of an entry are not kept, but all numbers are alike.
    multiply(stored, matrix.values, x, y);
    check_product();
  }
  CHECK(refusal(pattern, SparseFormat::dia).find(" slots; expected at most ") != std::string::npos);
  CHECK(refusal(pattern, SparseFormat::sell).find(" in 2147483648 slots; expected at most ") !=
        std::string::npos);
}

TEST_CASE("the most entries behind the regular part, and in slices") {
  const SparsityPattern behind = most_entries(524287, 1, 1100000).pattern;
  const StoredPattern hyb = converted(behind, SparseFormat::hyb);
  CHECK(hyb.width == 0);
  CHECK(hyb.slots == kMost);
  CHECK(hyb.row.size() == size(kMost));
  CHECK(hyb.row.back() == 524286);
  CHECK(hyb.slot.back() == kMost - 1);
  const SparsityPattern slices = most_entries(524256, 1).pattern;
  const StoredPattern sell = converted(slices, SparseFormat::sell);
  CHECK(sell.slots == std::int64_t{524256} * kLength);
  CHECK(sell.slot.back() == sell.slots - 1);
  CHECK(sell.column.back() == kLength - 1);
  CHECK(sell.row_start.back() == sell.slots);
}

TEST_CASE("solves of the most entries") {
  const SparseMatrix matrix = most_entries(524287, 0);
  run(matrix, SparseFormat::coo, Precision::f32, Method::cg);
  run(matrix, SparseFormat::ell, Precision::f64, Method::gmres);
}

// Text that repeats one line; none of it is read twice.
std::string lines(const std::string& head, const std::string& line, std::int64_t count) {
  std::string text(head.size() + line.size() * size(count), ' ');
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = i < head.size() ? head[i] : line[(i - head.size()) % line.size()];
  return text;
}

TEST_CASE(
    "files of more entries than there may be are refused, before they are read where that is "
    "known") {
  const std::string general = "%%MatrixMarket matrix coordinate pattern general\n";
  std::string text = lines(general + "1 1 2147483649\n", "1 1\n", kBeyond);
  CHECK(read_matrix_market(text, "m").status().message() ==
        "m:2: 2147483649 entries, expected at most 2147467264");
}
