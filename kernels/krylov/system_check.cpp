#include "kernels/krylov/system_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idletune::krylov {
namespace {

constexpr double kSymmetric = 1e-12;  // entries may differ by so much of the larger one

bool holds(double number, Precision precision) {
  const double largest = precision == Precision::f64
                             ? std::numeric_limits<double>::max()
                             : static_cast<double>(std::numeric_limits<float>::max());
  return std::fabs(number) <= largest;  // no NaN
}

const char* expected(Precision precision) {
  return precision == Precision::f64 ? "expected a finite number"
                                     : "expected a finite number of single precision";
}

std::size_t index_of(std::int32_t value) { return static_cast<std::size_t>(value); }

// The entry of a row in a column; entries() if there is none.
std::size_t find_entry(const SparsityPattern& pattern, std::size_t row, std::size_t column) {
  const auto begin = pattern.column.begin() + pattern.row_start[row];
  const auto end = pattern.column.begin() + pattern.row_start[row + 1];
  const auto found = std::lower_bound(begin, end, static_cast<std::int32_t>(column));
  if (found == end || index_of(*found) != column) return pattern.entries();
  return static_cast<std::size_t>(found - pattern.column.begin());
}

}  // namespace

Status check_numbers(Span<const double> numbers, Precision precision, const char* what) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (holds(numbers[i], precision)) continue;
    return {StatusCode::invalid_argument, "%, row %: not a number in range; %", what, i,
            expected(precision)};
  }
  return {};
}

Status check_values(const SparsityPattern& pattern, Span<const double> values,
                    Precision precision) {
  if (values.size() != pattern.entries()) {
    return {StatusCode::invalid_argument, "matrix: % values, expected %", values.size(),
            pattern.entries()};
  }
  std::size_t row = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    while (index_of(pattern.row_start[row + 1]) <= k) ++row;
    if (holds(values[k], precision)) continue;
    return {StatusCode::invalid_argument, "matrix, row %, column %: not a number in range; %", row,
            pattern.column[k], expected(precision)};
  }
  return {};
}

Status check_symmetric(const SparseMatrix& matrix) {
  const SparsityPattern& pattern = matrix.pattern;
  for (std::size_t row = 0; row < index_of(pattern.rows); ++row) {
    for (std::size_t k = index_of(pattern.row_start[row]); k < index_of(pattern.row_start[row + 1]);
         ++k) {
      const std::size_t column = index_of(pattern.column[k]);
      if (column == row) continue;
      const std::size_t other = find_entry(pattern, column, row);
      const double value = matrix.values[k];
      const double mirrored = other < pattern.entries() ? matrix.values[other] : 0;
      const double larger = std::max(std::fabs(value), std::fabs(mirrored));
      if (std::fabs(value - mirrored) <= kSymmetric * larger) continue;
      return {StatusCode::invalid_argument,
              "the matrix is not symmetric (row %, column %), as CG expects; BiCGStab and GMRES "
              "take it",
              row, column};
    }
  }
  return {};
}

Result<std::vector<double>> reciprocal_diagonal(const SparseMatrix& matrix,
                                                const PowerOfTwo& scale) {
  std::vector<double> reciprocals(index_of(matrix.pattern.rows));
  for (std::size_t row = 0; row < reciprocals.size(); ++row) {
    const std::size_t k = find_entry(matrix.pattern, row, row);
    const bool missing = k == matrix.pattern.entries();
    if (missing || matrix.values[k] == 0) {
      return {StatusCode::invalid_argument,
              "row %: the diagonal's entry is %; Jacobi's preconditioner expects another number",
              row, missing ? "missing" : "0"};
    }
    reciprocals[row] = 1 / scale.times(matrix.values[k]);
  }
  return reciprocals;
}

}  // namespace idletune::krylov
