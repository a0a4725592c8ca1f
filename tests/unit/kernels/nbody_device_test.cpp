// kernels/nbody on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_bodies(const Shape& shape, const Inputs& in) {
  const auto n = static_cast<std::size_t>(shape[0]);
  const double dt = in.scalar("dt");
  Outputs out;
  for (std::size_t b = 0; b < n; ++b) {
    double acceleration[3] = {0, 0, 0};
    double magnitude = 0;
    for (std::size_t j = 0; j < n; ++j) {
      double d[3];
      double square = in.scalar("softening");
      for (std::size_t i = 0; i < 3; ++i) {
        d[i] = in.at("positions", 4 * j + i) - in.at("positions", 4 * b + i);
        square += d[i] * d[i];
      }
      const double pull = in.at("positions", 4 * j + 3) / (square * std::sqrt(square));
      for (std::size_t i = 0; i < 3; ++i) acceleration[i] += d[i] * pull;
      magnitude += std::fabs(pull);
    }
    const double bound = 2 * rounding_bound(static_cast<double>(n), 1 + magnitude);
    for (std::size_t i = 0; i < 3; ++i) {
      const double velocity = in.at("velocities", 4 * b + i) + dt * acceleration[i];
      out["new_velocities"].add(velocity, bound);
      out["new_positions"].add(in.at("positions", 4 * b + i) + dt * velocity, bound);
    }
    out["new_velocities"].add(in.at("velocities", 4 * b + 3), 0);
    out["new_positions"].add(in.at("positions", 4 * b + 3), 0);
  }
  return out;
}

const KernelCheck kNbodyCheck{
    "nbody",
    {{1}, {2}, {63}, {64}, {257}, {1031}},
    {37},
    expected_bodies,
    {"ay[v] = MULTIPLY_ADD(dy, pull", "ay[v] = MULTIPLY_ADD(dx, pull"},
    {},
    {{"if (body < n) {", "if (body < n - (n > WG * BODIES && n % (WG * BODIES) != 0)) {"},
     {"for (int j = 0; j < count; ++j) ATTRACT(BODY(j))",
      "for (int j = 0; j < count - (n > CHUNK); ++j) ATTRACT(BODY(j))"}}};

}  // namespace

IDLETUNE_KERNEL_TESTS("nbody", kNbodyCheck)
IDLETUNE_CLASS_FAULT_TEST("nbody", kNbodyCheck)
