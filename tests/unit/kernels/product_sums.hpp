// What matrix products must be, in double precision.
#pragma once

#include <cstddef>

#include "tests/unit/kernels/kernel_check.hpp"

namespace idletune::kernel_tests {

// Each element of c becomes beta times itself and alpha times `terms` terms. BLAS: what is multiplied
// by zero is not read.
template <class Term>
Outputs expected_update(const Inputs& in, std::size_t rows, std::size_t columns, std::size_t terms,
                        const Term& term) {
  const double alpha = in.scalar("alpha");
  const double beta = in.scalar("beta");
  Outputs out;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      Sum sum;
      if (beta != 0) sum.add(beta * in.at("c", row * columns + column));
      for (std::size_t i = 0; alpha != 0 && i < terms; ++i) sum.add(alpha * term(row, column, i));
      out["c"].add(sum, terms);
    }
  }
  return out;
}

inline Outputs expected_gemm(const Shape& shape, const Inputs& in) {
  const auto m = static_cast<std::size_t>(shape[0]);
  const auto n = static_cast<std::size_t>(shape[1]);
  const auto k = static_cast<std::size_t>(shape[2]);
  return expected_update(in, m, n, k, [&](std::size_t row, std::size_t column, std::size_t i) {
    return in.at("a", row * k + i) * in.at("b", i * n + column);
  });
}

}  // namespace idletune::kernel_tests
