// kernels/syr2k_block on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/product_sums.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

Outputs expected_syr2k_block(const Shape& shape, const Inputs& in) {
  const auto n = static_cast<std::size_t>(shape[0]);
  const auto k = static_cast<std::size_t>(shape[1]);
  return expected_update(in, n, n, 2 * k, [&](std::size_t row, std::size_t column, std::size_t i) {
    const bool turned = i >= k;
    return in.at(turned ? "b" : "a", row * k + i % k) *
           in.at(turned ? "a" : "b", column * k + i % k);
  });
}

const KernelCheck kSyr2kBlockCheck{"syr2k_block",
                                   {{1, 1}, {2, 100}, {33, 1}, {64, 16}, {131, 19}},
                                   {35, 5},
                                   expected_syr2k_block,
                                   {"b[(size_t)row * k + d]", "a[(size_t)row * k + d]"}};

}  // namespace

IDLETUNE_KERNEL_TESTS("syr2k_block", kSyr2kBlockCheck)
