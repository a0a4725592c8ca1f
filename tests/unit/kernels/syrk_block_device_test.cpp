// kernels/syrk_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/kernel_check.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_syrk_block(const Shape& shape, const Inputs& in) {
  const auto n = static_cast<std::size_t>(shape[0]);
  const auto k = static_cast<std::size_t>(shape[1]);
  Outputs out;
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      const double old = in.scalar("beta") * in.at("c", row * n + column);
      double sum = old;
      double magnitude = std::fabs(old);
      for (std::size_t d = 0; d < k; ++d) {
        const double term =
            in.scalar("alpha") * in.at("a", row * k + d) * in.at("a", column * k + d);
        sum += term;
        magnitude += std::fabs(term);
      }
      out["c"].add(sum, rounding_bound(static_cast<double>(k), magnitude));
    }
  }
  return out;
}

const KernelCheck kSyrkBlockCheck{"syrk_block",
                                  {{1, 1}, {2, 100}, {33, 1}, {64, 16}, {131, 19}},
                                  {35, 5},
                                  expected_syrk_block,
                                  {"a[(size_t)column * k + d]", "a[(size_t)column * k]"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("syrk_block", kSyrkBlockCheck)
