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

}  // namespace idletune::test
