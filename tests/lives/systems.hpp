// Linear systems that solvers are given.
#pragma once

#include <cstdint>
#include <vector>

#include <idletune/krylov.hpp>

namespace idletune::lives {

// Symmetric positive definite: a chain, a cycle with chords, or a star; DIA suits the first one, ELL
// the second.
krylov::SparseMatrix matrix_of(std::int32_t rows, int kind);

// How far y is from A x, beside the sum of its terms' magnitudes.
double error_of(const krylov::SparseMatrix& matrix, const std::vector<double>& x,
                const std::vector<double>& y);

}  // namespace idletune::lives
