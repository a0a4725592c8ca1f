// kernels/gemm_adaptive, a family, on this machine's OpenCL device against double precision on the
// host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_product(const Shape& shape, const Inputs& in) {
  const auto m = static_cast<std::size_t>(shape[0]);
  const auto n = static_cast<std::size_t>(shape[1]);
  const auto k = static_cast<std::size_t>(shape[2]);
  const double alpha = in.scalar("alpha");
  const double beta = in.scalar("beta");
  Outputs out;
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      double sum = beta * in.at("c", row * n + column);
      double magnitude = std::fabs(sum);
      for (std::size_t i = 0; i < k; ++i) {
        const double term = alpha * in.at("a", row * k + i) * in.at("b", i * n + column);
        sum += term;
        magnitude += std::fabs(term);
      }
      out["c"].add(sum, rounding_bound(static_cast<double>(k), magnitude));
    }
  }
  return out;
}

const KernelCheck kGemmAdaptiveCheck{
    "gemm_adaptive",
    {{1, 1, 1}, {7, 3, 65}, {64, 64, 32}, {33, 70, 17}, {1, 130, 9}, {61, 2, 5}},
    {9, 21, 19},
    expected_product,
    {"k = fast_depth; k < depth", "k = fast_depth + 1; k < depth"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("gemm_adaptive", kGemmAdaptiveCheck)
