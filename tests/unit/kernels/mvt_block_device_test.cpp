// kernels/mvt_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_mvt_block(const Shape& shape, const Inputs& in) {
  const auto n = static_cast<std::size_t>(shape[0]);
  Outputs out;
  for (std::size_t own = 0; own < n; ++own) {
    Sum sum1, sum2;
    sum1.add(in.at("x1", own));
    sum2.add(in.at("x2", own));
    for (std::size_t i = 0; i < n; ++i) {
      sum1.add(in.at("a", own * n + i) * in.at("y1", i));
      sum2.add(in.at("a", i * n + own) * in.at("y2", i));
    }
    out["x1"].add(sum1, n);
    out["x2"].add(sum2, n);
  }
  return out;
}

const KernelCheck kMvtBlockCheck{
    "mvt_block",
    {{1}, {2}, {31}, {64}, {257}, {1031}},
    {35},
    expected_mvt_block,
    {"x2[own] += sum2", "x2[own] = sum2"},
    {},
    {{"if (own >= n) return;",
      "if (own >= n - (n > BLOCK_X * BLOCK_Y && n % (BLOCK_X * BLOCK_Y) != 0)) return;"},
     {"sum1 = MULTIPLY_ADD(a[(size_t)own * n + i], y1[i], sum1);",
      "if (i > 0 || n >= BLOCK_X * BLOCK_Y) sum1 = MULTIPLY_ADD(a[(size_t)own * n + i], y1[i], "
      "sum1);"}}};

}  // namespace

IDLETUNE_KERNEL_TESTS("mvt_block", kMvtBlockCheck)
IDLETUNE_CLASS_FAULT_TEST("mvt_block", kMvtBlockCheck)
