// What sums of rows must be, in double precision.
#pragma once

#include <cmath>
#include <cstddef>

#include "tests/unit/kernels/kernel_check.hpp"

namespace idletune::kernel_tests {

inline Outputs expected_sums(const Shape& shape, const Inputs& in) {
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto n = static_cast<std::size_t>(shape[1]);
  Outputs out;
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = in.at("y", r);
    double magnitude = std::fabs(sum);
    for (std::size_t i = 0; i < n; ++i) {
      sum += in.at("x", r * n + i);
      magnitude += std::fabs(in.at("x", r * n + i));
    }
    out["y"].add(sum, rounding_bound(static_cast<double>(n), magnitude));
  }
  return out;
}

}  // namespace idletune::kernel_tests
