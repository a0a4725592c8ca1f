// What a solver refuses before it begins: each with one line that names the row.
#pragma once

#include <vector>

#include <idletune/krylov.hpp>

#include "kernels/krylov/power_of_two.hpp"

namespace idletune::krylov {

// Numbers that are finite, and stay so in this precision. `what`: "matrix", "b", ...
Status check_numbers(Span<const double> numbers, Precision precision, const char* what);
// The same for the entries of a matrix, naming row and column.
Status check_values(const SparsityPattern& pattern, Span<const double> values, Precision precision);
// Up to rounding: CG would not notice, and go wrong.
Status check_symmetric(const SparseMatrix& matrix);
// Reciprocals of the diagonal times `scale`. Error: an entry is missing or 0.
Result<std::vector<double>> reciprocal_diagonal(const SparseMatrix& matrix,
                                                const PowerOfTwo& scale = PowerOfTwo());

}  // namespace idletune::krylov
