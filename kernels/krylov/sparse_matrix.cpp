#include "kernels/krylov/sparse_matrix.hpp"

namespace idletune::krylov {
namespace {

Status wrong_row(std::size_t row, const char* what) {
  return {StatusCode::invalid_argument, "row %: %", row, what};
}

Status check_row(const SparsityPattern& pattern, std::size_t row) {
  const std::int32_t begin = pattern.row_start[row];
  const std::int32_t end = pattern.row_start[row + 1];
  if (begin > end || static_cast<std::size_t>(end) > pattern.entries()) {
    return wrong_row(row, "its start lies behind its end; expected row starts that ascend");
  }
  std::int32_t before = -1;
  for (std::int32_t k = begin; k < end; ++k) {
    const std::int32_t column = pattern.column[static_cast<std::size_t>(k)];
    if (column < 0 || column >= pattern.columns) {
      return {StatusCode::invalid_argument, "row %: column %, expected 0 to %", row,
              std::int64_t{column}, std::int64_t{pattern.columns} - 1};
    }
    if (column <= before) return wrong_row(row, "columns do not ascend");
    before = column;
  }
  return {};
}

}  // namespace

Status check(const SparsityPattern& pattern) {
  if (pattern.rows < 0 || pattern.columns < 0) {
    return {StatusCode::invalid_argument, "a matrix of negative size"};
  }
  const std::size_t most = kMostIndices;
  if (pattern.rows > kMostIndices || pattern.columns > kMostIndices || pattern.entries() > most) {
    return {StatusCode::invalid_argument,
            "a matrix of % by % with % entries, expected at most % of each",
            pattern.rows,
            pattern.columns,
            pattern.entries(),
            most};
  }
  const auto rows = static_cast<std::size_t>(pattern.rows);
  if (pattern.row_start.size() != rows + 1 || pattern.row_start.front() != 0) {
    return {StatusCode::invalid_argument, "row starts: % numbers, expected % from 0 on",
            pattern.row_start.size(), rows + 1};
  }
  for (std::size_t row = 0; row < rows; ++row) {
    if (Status status = check_row(pattern, row); !status.ok()) return status;
  }
  if (static_cast<std::size_t>(pattern.row_start.back()) == pattern.entries()) return {};
  return {StatusCode::invalid_argument,
          "row starts end at %, expected %, the number of columns stored",
          std::int64_t{pattern.row_start.back()}, pattern.entries()};
}

void multiply(const SparsityPattern& pattern, Span<const double> values, Span<const double> x,
              Span<double> y) {
  for (std::size_t row = 0; row < y.size(); ++row) {
    double sum = 0;
    for (auto k = static_cast<std::size_t>(pattern.row_start[row]);
         k < static_cast<std::size_t>(pattern.row_start[row + 1]); ++k) {
      sum += values[k] * x[static_cast<std::size_t>(pattern.column[k])];
    }
    y[row] = sum;
  }
}

}  // namespace idletune::krylov
