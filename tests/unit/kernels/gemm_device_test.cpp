// kernels/gemm on this machine's OpenCL device against double precision on the host, with the special
// cases of BLAS.
#include <algorithm>
#include <limits>
#include <vector>

#include "tests/unit/kernels/kernel_path.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/kernels/product_sums.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

struct GemmProblem {
  Shape shape;
  float alpha, beta;
};

// Ones, primes, multiples of every tile and one beside them, long and thin ones, depths on both
// sides of the unrolling and the tile.
const std::vector<GemmProblem> kProblems{
    {{1, 1, 1}, 1.0f, 0.0f},       {{1, 40, 1}, -0.5f, 0.0f},    {{40, 1, 40}, 1.0f, 1.0f},
    {{17, 31, 37}, 1.0f, 0.0f},    {{19, 31, 37}, 2.5f, -0.5f},  {{32, 64, 32}, 1.0f, 0.0f},
    {{128, 128, 32}, -0.5f, 1.0f}, {{129, 127, 33}, 1.0f, 0.0f}, {{7, 3, 65}, 0.0f, 0.75f},
    {{3, 7, 5}, 0.0f, 0.0f},       {{1, 300, 19}, 1.0f, 0.75f},  {{300, 1, 70}, 1.0f, 0.0f},
    {{5, 133, 16}, 1.0f, 1.0f},    {{64, 64, 1}, 1.0f, 0.0f},    {{63, 65, 31}, -1.0f, -0.5f}};

std::vector<Shape> shapes_of_problems() {
  std::vector<Shape> shapes;
  for (const GemmProblem& problem : kProblems) shapes.push_back(problem.shape);
  return shapes;
}

// BLAS: what is multiplied by zero is not read.
void set_factors(const Shape& shape, Inputs& inputs) {
  const auto spoil = [&](const char* name) {
    std::vector<float>& values = inputs.buffers.at(name);
    std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
  };
  for (const GemmProblem& problem : kProblems) {
    if (!(problem.shape == shape)) continue;
    inputs.scalars = {{"alpha", problem.alpha}, {"beta", problem.beta}};
    if (problem.alpha == 0.0f) spoil("a");
    if (problem.beta == 0.0f) spoil("c");
  }
}

// The tiny shape has both edges, more than one tile of depth, and a rest that KWI does not divide.
const KernelCheck kGemmCheck{"gemm",
                             shapes_of_problems(),
                             {9, 21, 35},
                             expected_gemm,
                             {"k = fast_depth; k < depth", "k = fast_depth + 1; k < depth"},
                             {},
                             {},
                             set_factors};

}  // namespace

IDLETUNE_KERNEL_TESTS("gemm", kGemmCheck)

TEST_CASE("the default configuration of gemm asks for 64 work items and no local memory") {
  const auto package = open_package(test::kernel_path("gemm"));
  auto plan = required(package->plan({100, 200, 300}, package->default_configuration()));
  CHECK(plan.first().range.local[0] * plan.first().range.local[1] == 64);
  CHECK(plan.first().range.global[0] == 7 * 8);
  CHECK(plan.first().range.global[1] == 4 * 8);
  CHECK(plan.first().local_memory_bytes == 0);
}
