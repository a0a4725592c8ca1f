// Systems of equations that the benchmarks of solvers take: files, and five points on a grid.
#pragma once

#include <string>
#include <vector>

#include "kernels/krylov/sparse_matrix.hpp"

namespace idletune::bench {

struct System {
  std::string name;
  krylov::SparseMatrix matrix;
  std::vector<double> b;
};

// Of the Matrix Market, also packed. Throws.
System from_file(const std::string& path);
// Positive definite, side * side rows.
System grid(std::int32_t side);

}  // namespace idletune::bench
