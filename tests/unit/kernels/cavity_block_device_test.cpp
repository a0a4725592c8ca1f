// kernels/cavity_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

// A grid with walls around it: `wall` gives the value beside the inner point (row, column), `lid`
// what is added to that above the last row.
struct Walled {
  const std::vector<float>& inner;
  std::int64_t rows, columns;
  double at(std::int64_t row, std::int64_t column, double wall, double lid) const {
    if (row >= rows) return wall + lid;
    if (row < 0 || column < 0 || column >= columns) return wall;
    return static_cast<double>(inner[static_cast<std::size_t>(row * columns + column)]);
  }
};

Outputs expected_step(const Shape& shape, const Inputs& in) {
  const double h = in.scalar("spacing");
  const double dt = in.scalar("dt");
  const Walled stream{in["stream"], shape[0], shape[1]};
  const Walled vorticity{in["vorticity"], shape[0], shape[1]};
  Outputs out;
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      const double wall = -2 * stream.at(r, c, 0, 0) / (h * h);
      const double lid = -2 * in.scalar("lid") / h;
      const double w = vorticity.at(r, c, 0, 0);
      const auto psi = [&](int up, int right) { return stream.at(r + up, c + right, 0, 0); };
      const auto omega = [&](int up, int right) {
        return vorticity.at(r + up, c + right, wall, lid);
      };
      const double neighbours = omega(1, 0) + omega(-1, 0) + omega(0, 1) + omega(0, -1);
      const double u = (psi(1, 0) - psi(-1, 0)) / (2 * h);
      const double v = -(psi(0, 1) - psi(0, -1)) / (2 * h);
      const double carried =
          u * (omega(0, 1) - omega(0, -1)) / (2 * h) + v * (omega(1, 0) - omega(-1, 0)) / (2 * h);
      const double spread = in.scalar("viscosity") * (neighbours - 4 * w) / (h * h);
      out["new_stream"].add((psi(1, 0) + psi(-1, 0) + psi(0, 1) + psi(0, -1) + h * h * w) / 4,
                            rounding_bound(5, 2));
      out["new_vorticity"].add(w + dt * (spread - carried), rounding_bound(20, 30));
    }
  }
  return out;
}

const KernelCheck kCavityBlockCheck{"cavity_block",
                                    {{1, 1}, {1, 300}, {300, 1}, {2, 2}, {64, 64}, {131, 257}},
                                    {9, 35},
                                    expected_step,
                                    {"at_wall - 2.0f * lid", "at_wall + 2.0f * lid"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("cavity_block", kCavityBlockCheck)
