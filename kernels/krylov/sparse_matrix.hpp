// A sparse matrix in compressed rows (CSR), the form that all others are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::krylov {

// Which entries are stored. Row i's are [row_start[i], row_start[i + 1]), by ascending column.
struct SparsityPattern {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::vector<std::int32_t> row_start{0};  // [rows + 1]
  std::vector<std::int32_t> column;        // [entries()]

  std::size_t entries() const { return column.size(); }
  bool square() const { return rows == columns; }
};

struct SparseMatrix {
  SparsityPattern pattern;
  std::vector<double> values;  // [pattern.entries()]
};

// Whether the arrays are what the comments above say. Error: invalid_argument, naming the row.
Status check(const SparsityPattern& pattern);

// y = A x in double precision, row by row: what products of every format and kernel are compared
// with. Sizes: values[entries], x[columns], y[rows].
void multiply(const SparsityPattern& pattern, Span<const double> values, Span<const double> x,
              Span<double> y);

}  // namespace idletune::krylov
