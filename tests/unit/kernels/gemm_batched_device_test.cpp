// kernels/gemm_batched on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_batch(const Shape& shape, const Inputs& in) {
  const auto batch = static_cast<std::size_t>(shape[0]);
  const auto m = static_cast<std::size_t>(shape[1]);
  const auto n = static_cast<std::size_t>(shape[2]);
  const auto k = static_cast<std::size_t>(shape[3]);
  Outputs out;
  for (std::size_t row = 0; row < batch * m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      Sum sum;
      for (std::size_t d = 0; d < k; ++d) {
        sum.add(in.at("a", row * k + d) * in.at("b", (row / m * k + d) * n + column));
      }
      out["c"].add(sum, k);
    }
  }
  return out;
}

const KernelCheck kGemmBatchedCheck{
    "gemm_batched",
    {{1, 1, 1, 1}, {3, 16, 16, 16}, {17, 5, 7, 3}, {2, 33, 35, 37}, {9, 1, 40, 17}, {5, 40, 1, 8}},
    {3, 9, 11, 17},
    expected_batch,
    {"first < k; first += DEPTH", "first < k - 1; first += DEPTH"},
    {},
    {{"row < m && column < n) {\n      c[((",
      "row < m - (m > TILE_ROWS && m % TILE_ROWS != 0) && column < n) {\n      c[(("},
     {"const int depth = min(DEPTH, k - first);",
      "const int depth = min(DEPTH, k - first) - (first > 0 && k - first < DEPTH);"}}};

}  // namespace

IDLETUNE_KERNEL_TESTS("gemm_batched", kGemmBatchedCheck)
IDLETUNE_CLASS_FAULT_TEST("gemm_batched", kGemmBatchedCheck)
