// kernels/reduction on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_sums(const Shape& shape, const Inputs& in) {
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

const KernelCheck kCheck{"reduction",
                         {{1, 1}, {1, 37}, {3, 17}, {2, 1000}, {1, 8191}, {5, 513}, {64, 3}},
                         {1, 147},
                         expected_sums,
                         {"y[row] += partial[0]", "y[row] = partial[0]"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("reduction", kCheck)
