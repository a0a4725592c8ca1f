// kernels/bicg on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_bicg(const Shape& shape, const Inputs& in) {
  const auto m = static_cast<std::size_t>(shape[0]);
  const auto n = static_cast<std::size_t>(shape[1]);
  Outputs out;
  for (std::size_t row = 0; row < m; ++row) {
    Sum sum;
    sum.add(in.at("q", row));
    for (std::size_t column = 0; column < n; ++column) {
      sum.add(in.at("a", row * n + column) * in.at("p", column));
    }
    out["q"].add(sum, n);
  }
  for (std::size_t column = 0; column < n; ++column) {
    Sum sum;
    sum.add(in.at("s", column));
    for (std::size_t row = 0; row < m; ++row) {
      sum.add(in.at("a", row * n + column) * in.at("r", row));
    }
    out["s"].add(sum, m);
  }
  return out;
}

const KernelCheck kBicgCheck{
    "bicg",
    {{1, 1}, {1, 300}, {300, 1}, {3, 7}, {64, 64}, {131, 277}},
    {9, 37},
    expected_bicg,
    {"first_row + i * WGY + item_row;", "first_row + i * WGY;"},
    {},
    {{"lanes[lane] = column + lane < n ? line[column + lane] : 0.0f;", "lanes[lane] = 0.0f;"},
     {"? (n + TILE_COLUMNS - 1) / TILE_COLUMNS", "? n / TILE_COLUMNS + (n < TILE_COLUMNS)"},
     {"if (first_row + at < m) {", "if (first_row + at < m - (m % TILE_ROWS != 0)) {"}}};

}  // namespace

IDLETUNE_KERNEL_TESTS("bicg", kBicgCheck)
IDLETUNE_CLASS_FAULT_TEST("bicg", kBicgCheck)
