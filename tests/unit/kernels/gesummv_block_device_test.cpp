// kernels/gesummv_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_sum(const Shape& shape, const Inputs& in) {
  const auto n = static_cast<std::size_t>(shape[0]);
  Outputs out;
  for (std::size_t row = 0; row < n; ++row) {
    Sum sum;
    for (std::size_t i = 0; i < n; ++i) {
      sum.add(in.scalar("alpha") * in.at("a", row * n + i) * in.at("x", i));
      sum.add(in.scalar("beta") * in.at("b", row * n + i) * in.at("x", i));
    }
    out["y"].add(sum, 2 * n);
  }
  return out;
}

const KernelCheck kGesummvBlockCheck{"gesummv_block",
                                     {{1}, {2}, {31}, {64}, {257}, {1031}},
                                     {35},
                                     expected_sum,
                                     {"+ beta * sum_b", "- beta * sum_b"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("gesummv_block", kGesummvBlockCheck)
