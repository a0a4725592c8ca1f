// What sums of rows must be, in double precision.
#pragma once

#include <cstddef>

#include "tests/unit/kernels/kernel_check.hpp"

namespace idletune::kernel_tests {

inline Outputs expected_sums(const Shape& shape, const Inputs& in) {
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto n = static_cast<std::size_t>(shape[1]);
  Outputs out;
  for (std::size_t r = 0; r < rows; ++r) {
    Sum sum;
    sum.add(in.at("y", r));
    for (std::size_t i = 0; i < n; ++i) sum.add(in.at("x", r * n + i));
    out["y"].add(sum, n);
  }
  return out;
}

}  // namespace idletune::kernel_tests
