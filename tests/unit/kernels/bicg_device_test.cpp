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
    double sum = in.at("q", row);
    double magnitude = std::fabs(sum);
    for (std::size_t column = 0; column < n; ++column) {
      const double term = in.at("a", row * n + column) * in.at("p", column);
      sum += term;
      magnitude += std::fabs(term);
    }
    out["q"].add(sum, rounding_bound(static_cast<double>(n), magnitude));
  }
  for (std::size_t column = 0; column < n; ++column) {
    double sum = in.at("s", column);
    double magnitude = std::fabs(sum);
    for (std::size_t row = 0; row < m; ++row) {
      const double term = in.at("a", row * n + column) * in.at("r", row);
      sum += term;
      magnitude += std::fabs(term);
    }
    out["s"].add(sum, rounding_bound(static_cast<double>(m), magnitude));
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
