// kernels/transpose on this machine's OpenCL device against the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_transpose(const Shape& shape, const Inputs& in) {
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto columns = static_cast<std::size_t>(shape[1]);
  Outputs out;
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) out["out"].add(in.at("in", r * columns + c), 0);
  }
  return out;
}

const KernelCheck kTransposeCheck{
    "transpose",
    {{1, 1}, {1, 200}, {200, 1}, {7, 5}, {64, 64}, {131, 67}, {257, 300}},
    {19, 37},
    expected_transpose,
    {"out[(size_t)(column + lane) * rows + row]",
     "out[(size_t)(column + lane) * rows + (row ^ (rows > 1))]"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("transpose", kTransposeCheck)
