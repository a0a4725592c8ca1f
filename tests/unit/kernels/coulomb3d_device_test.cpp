// kernels/coulomb3d on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_energy(const Shape& shape, const Inputs& in) {
  const auto atoms = static_cast<std::size_t>(shape[3]);
  const double spacing = in.scalar("spacing");
  Outputs out;
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        Sum sum;
        for (std::size_t a = 0; a < atoms; ++a) {
          const double dx = static_cast<double>(x) * spacing - in.at("x", a);
          const double dy = static_cast<double>(y) * spacing - in.at("y", a);
          const double dz = static_cast<double>(z) * spacing - in.at("z", a);
          sum.add(in.at("charge", a) / std::sqrt(dx * dx + dy * dy + dz * dz));
        }
        out["energy"].add(sum, atoms);
      }
    }
  }
  return out;
}

const KernelCheck kCoulomb3dCheck{
    "coulomb3d",
    {{1, 1, 1, 1}, {1, 1, 70, 5}, {3, 17, 9, 64}, {9, 5, 33, 257}},
    {2, 3, 9, 65},
    expected_energy,
    {"sum[i][j] = SPLAT(VECTOR, 0.0f)", "sum[i][j] = SPLAT(VECTOR, 0.001f)"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("coulomb3d", kCoulomb3dCheck)
