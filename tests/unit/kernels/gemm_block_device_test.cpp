// kernels/gemm_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/product_sums.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

const KernelCheck kGemmBlockCheck{
    "gemm_block",
    {{1, 1, 1}, {1, 300, 7}, {300, 1, 7}, {13, 17, 40}, {67, 131, 19}},
    {9, 35, 5},
    expected_gemm,
    {"beta * c[at] + alpha * sum", "c[at] + alpha * sum"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("gemm_block", kGemmBlockCheck)
