// What a verdict is compared with.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include <idletune/krylov.hpp>

namespace idletune::test {

// ||b - A x|| / ||b|| with more digits and a wider range than the library has, and how far that in
// double precision may be off. NaN counts as infinite.
struct Residual {
  double share, rounding;
};
inline Residual residual_of(const krylov::SparseMatrix& matrix, const std::vector<double>& b,
                            const std::vector<double>& x) {
  long double rest = 0, whole = 0, terms = 0;
  for (std::size_t row = 0; row < b.size(); ++row) {
    long double left = b[row];
    for (auto k = static_cast<std::size_t>(matrix.pattern.row_start[row]);
         k < static_cast<std::size_t>(matrix.pattern.row_start[row + 1]); ++k) {
      const long double term = static_cast<long double>(matrix.values[k]) *
                               x[static_cast<std::size_t>(matrix.pattern.column[k])];
      left -= term;
      terms += std::fabs(term);
    }
    rest += left * left;
    whole += static_cast<long double>(b[row]) * b[row];
  }
  const long double share = std::sqrt(rest / whole);
  return {std::isnan(share) ? HUGE_VAL : static_cast<double>(share),
          static_cast<double>(0x1p-50L * terms / std::sqrt(whole))};
}

}  // namespace idletune::test
