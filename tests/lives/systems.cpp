#include "tests/lives/systems.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace idletune::lives {

krylov::SparseMatrix matrix_of(std::int32_t rows, int kind) {
  krylov::SparseMatrix matrix;
  matrix.pattern.rows = matrix.pattern.columns = rows;
  const auto entry = [&](std::int32_t i, std::int32_t j) -> double {
    if (i == j) return kind == 2 ? 4 + rows : rows > 2000 ? 2.5 : 2.05 + kind;
    if (kind == 1) return (i + j) % rows == 1 || (i + j) % rows == 7 ? -0.5 : 0;
    return std::abs(i - j) == 1 || (kind == 2 && (i == 0 || j == 0)) ? -1 : 0;
  };
  for (std::int32_t i = 0; i < rows; ++i) {
    const std::int32_t away = kind == 0 ? 1 : rows;  // what is further from the diagonal is none
    for (std::int32_t j = std::max(0, i - away); j < std::min(rows, i + away + 1); ++j) {
      if (entry(i, j) == 0) continue;
      matrix.pattern.column.push_back(j);
      matrix.values.push_back(entry(i, j));
    }
    matrix.pattern.row_start.push_back(static_cast<std::int32_t>(matrix.pattern.column.size()));
  }
  return matrix;
}

double error_of(const krylov::SparseMatrix& matrix, const std::vector<double>& x,
                const std::vector<double>& y) {
  double most = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double rest = y[i], magnitude = 0;
    for (auto k = static_cast<std::size_t>(matrix.pattern.row_start[i]);
         k < static_cast<std::size_t>(matrix.pattern.row_start[i + 1]); ++k) {
      const double term = matrix.values[k] * x[static_cast<std::size_t>(matrix.pattern.column[k])];
      rest -= term;
      magnitude += std::fabs(term);
    }
    most = std::isfinite(rest) ? std::max(most, std::fabs(rest) / magnitude) : HUGE_VAL;
  }
  return most;
}

}  // namespace idletune::lives
