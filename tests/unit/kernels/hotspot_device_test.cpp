// kernels/hotspot on this machine's OpenCL device against double precision on the host.
#include <algorithm>

#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

// The grid after four steps, each computed for all cells before the next.
std::vector<double> after_four_steps(std::int64_t rows, std::int64_t columns, const Inputs& in) {
  std::vector<double> now(in["before"].begin(), in["before"].end());
  for (int step = 0; step < 4; ++step) {
    std::vector<double> next(now.size());
    const auto at = [&](std::int64_t row, std::int64_t column) {
      row = std::min(std::max<std::int64_t>(row, 0), rows - 1);
      column = std::min(std::max<std::int64_t>(column, 0), columns - 1);
      return now[static_cast<std::size_t>(row * columns + column)];
    };
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto cell = static_cast<std::size_t>(r * columns + c);
        const double own = now[cell];
        next[cell] = own + in.scalar("heating") * in.at("power", cell) +
                     in.scalar("along") * (at(r - 1, c) + at(r + 1, c) - 2 * own) +
                     in.scalar("across") * (at(r, c - 1) + at(r, c + 1) - 2 * own) +
                     in.scalar("loss") * (in.scalar("ambient") - own);
      }
    }
    now = next;
  }
  return now;
}

Outputs expected_heat(const Shape& shape, const Inputs& in) {
  Outputs out;
  for (double value : after_four_steps(shape[0], shape[1], in)) {
    out["after"].add(value, rounding_bound(40, 1 + std::fabs(value)));
  }
  return out;
}

const KernelCheck kHotspotCheck{
    "hotspot",
    {{1, 1}, {1, 90}, {90, 1}, {3, 2}, {64, 64}, {61, 131}},
    {9, 11},
    expected_heat,
    {"row < rows - 1 ?", "row < rows - 2 ?"},
    {},
    {{"row < rows - 1 ?", "row < rows - 1 - (rows % (TBY * ROWS) != 0) ?"}}};

}  // namespace

IDLETUNE_KERNEL_TESTS("hotspot", kHotspotCheck)
IDLETUNE_CLASS_FAULT_TEST("hotspot", kHotspotCheck)
