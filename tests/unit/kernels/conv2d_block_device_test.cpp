// kernels/conv2d_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_conv2d_block(const Shape& shape, const Inputs& in) {
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto columns = static_cast<std::size_t>(shape[1]);
  Outputs out;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      Sum sum;
      for (std::size_t i = 0; i < 9; ++i) {
        const std::size_t from = (row + i / 3) * (columns + 2) + column + i % 3;
        sum.add(in.at("filter", i) * in.at("in", from));
      }
      out["out"].add(sum, 9);
    }
  }
  return out;
}

const KernelCheck kConv2dBlockCheck{"conv2d_block",
                                    {{1, 1}, {1, 300}, {300, 1}, {13, 17}, {64, 64}, {131, 257}},
                                    {9, 35},
                                    expected_conv2d_block,
                                    {"filter[3 * y + x]", "filter[3 * x + y]"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("conv2d_block", kConv2dBlockCheck)
