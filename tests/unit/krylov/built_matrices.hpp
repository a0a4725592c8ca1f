// Sparse matrices row by row, as tests make them up.
#pragma once

#include <cstdint>

#include "kernels/krylov/sparse_matrix.hpp"

namespace idletune::test {

// To the row that is not ended yet; columns ascend.
inline void add_entry(krylov::SparseMatrix& matrix, std::int32_t column, double value) {
  matrix.pattern.column.push_back(column);
  matrix.values.push_back(value);
}

inline void end_row(krylov::SparseMatrix& matrix) {
  matrix.pattern.row_start.push_back(static_cast<std::int32_t>(matrix.pattern.column.size()));
  ++matrix.pattern.rows;
}

// What is 0 is no entry.
inline krylov::SparseMatrix tridiagonal(std::int32_t rows, double below, double diagonal,
                                        double above) {
  krylov::SparseMatrix matrix;
  matrix.pattern.columns = rows;
  for (std::int32_t row = 0; row < rows; ++row) {
    if (below != 0 && row > 0) add_entry(matrix, row - 1, below);
    add_entry(matrix, row, diagonal);
    if (above != 0 && row + 1 < rows) add_entry(matrix, row + 1, above);
    end_row(matrix);
  }
  return matrix;
}

}  // namespace idletune::test
