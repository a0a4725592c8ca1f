// kernels/row_sums, a family, on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"
#include "tests/unit/kernels/reduction_sums.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

const KernelCheck kRowSumsCheck{"row_sums",
                                {{1, 1}, {1, 37}, {3, 17}, {2, 1000}, {1, 8191}, {5, 513}, {64, 3}},
                                {1, 147},
                                expected_sums,
                                {"y[row] += partial[0]", "y[row] = partial[0]"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("row_sums", kRowSumsCheck)
