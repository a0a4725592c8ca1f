// kernels/gemm_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_gemm_block(const Shape& shape, const Inputs& in) {
  const auto m = static_cast<std::size_t>(shape[0]);
  const auto n = static_cast<std::size_t>(shape[1]);
  const auto k = static_cast<std::size_t>(shape[2]);
  Outputs out;
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      const double old = in.scalar("beta") * in.at("c", row * n + column);
      double sum = old;
      double magnitude = std::fabs(old);
      for (std::size_t d = 0; d < k; ++d) {
        const double term =
            in.scalar("alpha") * in.at("a", row * k + d) * in.at("b", d * n + column);
        sum += term;
        magnitude += std::fabs(term);
      }
      out["c"].add(sum, rounding_bound(static_cast<double>(k), magnitude));
    }
  }
  return out;
}

const KernelCheck kGemmBlockCheck{
    "gemm_block",
    {{1, 1, 1}, {1, 300, 7}, {300, 1, 7}, {13, 17, 40}, {67, 131, 19}},
    {9, 35, 5},
    expected_gemm_block,
    {"beta * c[at] + alpha * sum", "c[at] + alpha * sum"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("gemm_block", kGemmBlockCheck)
