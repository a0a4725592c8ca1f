#include <cmath>
#include <cstring>

#include <doctest/doctest.h>

#include "agent/host/lab/steps/published_fractions.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

TEST_CASE("the tables are complete") {
  unsigned gpu = 0;
  unsigned cpu = 0;
  for (const PublishedFraction& cell : published_fractions()) {
    CHECK(cell.fraction > 0);
    CHECK(cell.fraction < 1);
    (cell.processor == Processor::gpu ? gpu : cpu) += 1;
  }
  // Tables 4 and 5: 12 rows of 5 GPUs less 9 without a figure, 9 rows of 4 CPUs less one.
  CHECK(gpu == 51);
  CHECK(cpu == 35);
}

TEST_CASE("a prior is the geometric mean over a benchmark's devices") {
  const auto gemm = required(published_prior("gemm", Processor::gpu));
  CHECK(gemm.devices == 4);
  CHECK(gemm.fraction == doctest::Approx(std::pow(0.000791 * 0.00107 * 0.00231 * 0.00793, 0.25)));
  CHECK(gemm.lowest == 0.000791);
  CHECK(gemm.highest == 0.00793);
  CHECK(gemm.log_spread == doctest::Approx(1.0277).epsilon(1e-3));
  CHECK(published_prior("gemm", Processor::cpu)->devices == 3);
  CHECK(published_prior("fourier_gridding", Processor::gpu)->devices == 9);
  CHECK_FALSE(published_prior("fourier_gridding", Processor::cpu).has_value());
}

TEST_CASE("names of kernels suggest benchmarks") {
  const struct {
    const char* kernel;
    const char* benchmark;
  } expected[] = {{"Xgemm", "GEMM"},
                  {"gemm_batched", "GEMM Batched"},
                  {"BatchedGEMM", "GEMM Batched"},
                  {"convolution_kernel", "Convolution"},
                  {"conv2d", "Convolution"},
                  {"directCoulombSum", "3D Coulomb Sum"},
                  {"mtran", "Matrix Transpose"},
                  {"matrix-transposition", "Matrix Transpose"},
                  {"N-Body", "N-body"},
                  {"reduce", "Reduction"},
                  {"bicgKernel", "BiCG"},
                  {"hotspot", "Hotspot"}};
  for (const auto& one : expected) {
    CAPTURE(one.kernel);
    const auto prior = required(published_prior(one.kernel, Processor::gpu));
    CHECK(std::strcmp(prior.benchmark, one.benchmark) == 0);
  }
  for (const char* other : {"", "saxpy", "dedispersion_kernel", "bicgstab", "cn_pnpoly", "gem"}) {
    CAPTURE(other);
    CHECK_FALSE(published_prior(other, Processor::gpu).has_value());
  }
}

TEST_CASE("devices differ in one benchmark by about a factor of two") {
  CHECK(published_spread_between_devices(Processor::gpu) == doctest::Approx(0.74479).epsilon(1e-4));
  CHECK(published_spread_between_devices(Processor::cpu) == doctest::Approx(0.96417).epsilon(1e-4));
}
