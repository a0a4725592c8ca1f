// kernels/conv3d_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_conv3d_block(const Shape& shape, const Inputs& in) {
  const auto planes = static_cast<std::size_t>(shape[0]);
  const auto rows = static_cast<std::size_t>(shape[1]);
  const auto columns = static_cast<std::size_t>(shape[2]);
  Outputs out;
  for (std::size_t element = 0; element < planes * rows * columns; ++element) {
    const std::size_t plane = element / columns / rows;
    Sum sum;
    for (std::size_t i = 0; i < 27; ++i) {
      const std::size_t line = (plane + i / 9) * (rows + 2) + element / columns % rows + i / 3 % 3;
      const std::size_t from = line * (columns + 2) + element % columns + i % 3;
      sum.add(in.at("filter", i) * in.at("in", from));
    }
    out["out"].add(sum, 27);
  }
  return out;
}

const KernelCheck kConv3dBlockCheck{"conv3d_block",
                                    {{1, 1, 1}, {1, 1, 300}, {3, 300, 1}, {5, 13, 17}, {7, 33, 65}},
                                    {2, 5, 35},
                                    expected_conv3d_block,
                                    {"filter[9 * z + 3 * y + x]", "filter[9 * y + 3 * z + x]"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("conv3d_block", kConv3dBlockCheck)
