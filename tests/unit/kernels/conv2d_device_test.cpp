// kernels/conv2d on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_convolution(const Shape& shape, const Inputs& in) {
  const auto height = static_cast<std::size_t>(shape[0]);
  const auto width = static_cast<std::size_t>(shape[1]);
  Outputs out;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      Sum sum;
      for (std::size_t fy = 0; fy < 7; ++fy) {
        for (std::size_t fx = 0; fx < 7; ++fx) {
          sum.add(in.at("filter", fy * 7 + fx) * in.at("in", (y + fy) * (width + 6) + x + fx));
        }
      }
      out["out"].add(sum, 49);
    }
  }
  return out;
}

const KernelCheck kConv2dCheck{
    "conv2d",
    {{1, 1}, {1, 70}, {70, 1}, {3, 7}, {32, 64}, {67, 131}},
    {9, 21},
    expected_convolution,
    {"min(group_row + tile_row, height - 1)", "min(group_row + tile_row, 1)"},
    {},
    {{"for (int at = column; at < width; ++at)",
      "for (int at = column; at < width - (width > TILE_COLUMNS); ++at)"},
     {"} else if (row < height) {", "} else if (row < height && height >= TILE_ROWS) {"},
     {"= in[(size_t)row * in_pitch + column];",
      "= in[(size_t)row * in_pitch + column] * (float)(row < height + FILTER - 2 || height % "
      "TILE_ROWS == 0);"}}};

}  // namespace

IDLETUNE_KERNEL_TESTS("conv2d", kConv2dCheck)
IDLETUNE_CLASS_FAULT_TEST("conv2d", kConv2dCheck)
