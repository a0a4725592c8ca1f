// Matrices in compressed rows (CSR), the form that all others are made of: their check and product.
#pragma once

#include <idletune/krylov.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::krylov {

// Of rows, columns, entries and slots: kernels count whole groups of them in 32 bits (of slots 512
// times kSliceRows).
inline constexpr std::int32_t kMostIndices = INT32_MAX - 16383;

// Whether the arrays are what the comments above say. Error: invalid_argument, naming the row.
Status check(const SparsityPattern& pattern);

// y = A x in double precision, row by row: what products of every format and kernel are compared
// with. Sizes: values[entries], x[columns], y[rows].
void multiply(const SparsityPattern& pattern, Span<const double> values, Span<const double> x,
              Span<double> y);

}  // namespace idletune::krylov
