// kernels/syrk_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/product_sums.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_syrk_block(const Shape& shape, const Inputs& in) {
  const auto n = static_cast<std::size_t>(shape[0]);
  const auto k = static_cast<std::size_t>(shape[1]);
  return expected_update(in, n, n, k, [&](std::size_t row, std::size_t column, std::size_t i) {
    return in.at("a", row * k + i) * in.at("a", column * k + i);
  });
}

const KernelCheck kSyrkBlockCheck{"syrk_block",
                                  {{1, 1}, {2, 100}, {33, 1}, {64, 16}, {131, 19}},
                                  {35, 5},
                                  expected_syrk_block,
                                  {"a[(size_t)column * k + d]", "a[(size_t)column * k]"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("syrk_block", kSyrkBlockCheck)
