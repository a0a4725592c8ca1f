// kernels/gemm_adaptive, a family, on this machine's OpenCL device against double precision on the
// host.
#include "tests/unit/kernels/product_sums.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

const KernelCheck kGemmAdaptiveCheck{
    "gemm_adaptive",
    {{1, 1, 1}, {7, 3, 65}, {64, 64, 32}, {33, 70, 17}, {1, 130, 9}, {61, 2, 5}},
    {9, 21, 19},
    expected_gemm,
    {"k = fast_depth; k < depth", "k = fast_depth + 1; k < depth"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("gemm_adaptive", kGemmAdaptiveCheck)
