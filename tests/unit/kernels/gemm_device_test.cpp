// kernels/gemm on this machine's OpenCL device against double precision on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <idletune/text.hpp>

#include "models/core/random.hpp"
#include "tests/paths.hpp"
#include "tests/unit/kernels/covering.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

constexpr std::uint64_t kGemmSeed = 20261121;
const std::size_t kGemmGuardElements = guard_elements(64);
constexpr float kGuard = -12345.0f;
constexpr float kGemmNan = std::numeric_limits<float>::quiet_NaN();

std::shared_ptr<const KernelPackage> open_gemm() {
  return open_package(IDLETUNE_SOURCE_FOLDER "/kernels/gemm/gemm.xml");
}

struct GemmProblem {
  std::int64_t m, n, k;
  float alpha, beta;
};

// Inputs of a problem, and what the result must be.
struct Data {
  Data(const GemmProblem& problem, std::uint64_t seed) {
    Random random(seed);
    const auto m = static_cast<std::size_t>(problem.m);
    const auto n = static_cast<std::size_t>(problem.n);
    const auto k = static_cast<std::size_t>(problem.k);
    const auto fill = [&](std::vector<float>& v, std::size_t size) {
      v.resize(size);
      for (float& x : v) x = static_cast<float>(2 * random.uniform() - 1);
    };
    fill(a, m * k);
    fill(b, k * n);
    fill(c, m * n);
    expected.resize(m * n);
    magnitude.resize(m * n);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        double size = 0;
        for (std::size_t d = 0; d < k; ++d) {
          const double term = static_cast<double>(a[i * k + d]) * static_cast<double>(b[d * n + j]);
          sum += term;
          size += std::fabs(term);
        }
        const double alpha = static_cast<double>(problem.alpha);
        const double old = static_cast<double>(problem.beta) * static_cast<double>(c[i * n + j]);
        expected[i * n + j] = alpha * sum + old;
        magnitude[i * n + j] = std::fabs(alpha) * size + std::fabs(old);
      }
    }
    // BLAS: what is multiplied by zero is not read.
    if (problem.beta == 0.0f) std::fill(c.begin(), c.end(), kGemmNan);
    if (problem.alpha == 0.0f) std::fill(a.begin(), a.end(), kGemmNan);
    c.insert(c.end(), kGemmGuardElements, kGuard);
  }
  std::vector<float> a, b, c;
  std::vector<double> expected;
  std::vector<double> magnitude;  // sum of the absolute values of what is added up
};

// The number of elements that differ from what is expected by more than the rounding errors of a
// sum of K terms (2^-23 of its magnitude, times sqrt(K) + 2), guard zone included.
std::size_t wrong_elements(const Data& data, const std::vector<float>& result, std::int64_t k) {
  const double slack = (std::sqrt(static_cast<double>(k)) + 2) / (1 << 23);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < data.expected.size(); ++i) {
    const double error = std::fabs(static_cast<double>(result[i]) - data.expected[i]);
    if (!(error <= slack * data.magnitude[i])) ++wrong;
  }
  for (std::size_t i = data.expected.size(); i < result.size(); ++i) {
    if (!(result[i] == kGuard)) ++wrong;
  }
  return wrong;
}

std::size_t run_and_count_wrong(Device& device, Program& program, const Range& range,
                                const GemmProblem& problem) {
  const Data data(problem, kGemmSeed);
  const auto a = upload(device, data.a);
  const auto b = upload(device, data.b);
  const auto c = upload(device, data.c);
  const std::array<Argument, 8> arguments{Argument(static_cast<std::int32_t>(problem.m)),
                                          Argument(static_cast<std::int32_t>(problem.n)),
                                          Argument(static_cast<std::int32_t>(problem.k)),
                                          a->argument(),
                                          b->argument(),
                                          c->argument(),
                                          Argument(problem.alpha),
                                          Argument(problem.beta)};
  run(device, program, range, arguments);
  const std::vector<float> result = download(device, *c, data.c.size());
  keep_output("c", std::vector<float>(result.begin(), result.begin() + problem.m * problem.n));
  return wrong_elements(data, result, problem.k);
}

void check_configuration(Device& device, const KernelPackage& package,
                         const Configuration& configuration,
                         const std::vector<GemmProblem>& problems) {
  auto first_plan = required(package.plan({1, 1, 1}, configuration));
  if (!fits(device, first_plan)) return;
  const auto program =
      compile(device, package, package.entry(), package.compile_options(configuration));
  for (const GemmProblem& p : problems) {
    auto plan = required(package.plan({p.m, p.n, p.k}, configuration));
    CAPTURE(to_text(package.space(), configuration));
    CAPTURE(p.m);
    CAPTURE(p.n);
    CAPTURE(p.k);
    CAPTURE(p.alpha);
    CAPTURE(p.beta);
    run_label() = joined("gemm|% x % x % % %|%", p.m, p.n, p.k, std::to_string(p.alpha),
                         std::to_string(p.beta), to_text(package.space(), configuration));
    CHECK(run_and_count_wrong(device, *program, plan.first().range, p) == 0);
  }
}

// Ones, primes, multiples of every tile and one beside them, long and thin ones, depths on both
// sides of the unrolling and the tile.
const std::vector<GemmProblem> kProblems{
    {1, 1, 1, 1.0f, 0.0f},       {1, 40, 1, -0.5f, 0.0f},    {40, 1, 40, 1.0f, 1.0f},
    {17, 31, 37, 1.0f, 0.0f},    {17, 31, 37, 2.5f, -0.5f},  {32, 64, 32, 1.0f, 0.0f},
    {128, 128, 32, -0.5f, 1.0f}, {129, 127, 33, 1.0f, 0.0f}, {7, 3, 65, 0.0f, 0.75f},
    {3, 7, 5, 0.0f, 0.0f},       {1, 300, 19, 1.0f, 0.75f},  {300, 1, 70, 1.0f, 0.0f},
    {5, 133, 16, 1.0f, 1.0f},    {64, 64, 1, 1.0f, 0.0f},    {63, 65, 31, -1.0f, -0.5f}};

}  // namespace

TEST_CASE("the space of gemm holds as many configurations as its constraints allow") {
  const auto package = open_gemm();
  CHECK(package->space().combinations() == 6553600);
  CHECK(package->space().valid_count() == 893632);
  CHECK(package->space().contains(package->default_configuration()));
}

TEST_CASE("the default configuration of gemm asks for 64 work items and no local memory") {
  const auto package = open_gemm();
  auto plan = required(package->plan({100, 200, 300}, package->default_configuration()));
  CHECK(plan.first().range.local[0] * plan.first().range.local[1] == 64);
  CHECK(plan.first().range.global[0] == 7 * 8);
  CHECK(plan.first().range.global[1] == 4 * 8);
  CHECK(plan.first().local_memory_bytes == 0);
}

TEST_CASE("the reference of gemm agrees with double precision") {
  const auto package = open_gemm();
  const auto device = open_first_device();
  const auto program =
      compile(*device, *package, package->reference().entry(), package->reference().options());
  run_label() = "gemm|reference";
  for (const GemmProblem& p : kProblems) {
    auto plan = required(package->reference().plan({p.m, p.n, p.k}));
    CAPTURE(p.m);
    CAPTURE(p.n);
    CAPTURE(p.k);
    CHECK(run_and_count_wrong(*device, *program, plan.first().range, p) == 0);
  }
}

TEST_CASE("the default configuration of gemm is right for every shape") {
  const auto package = open_gemm();
  const auto device = open_first_device();
  check_configuration(*device, *package, package->default_configuration(), kProblems);
}

TEST_CASE("a fault in gemm is found") {
  auto description = required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/kernels/gemm/gemm.xml"));
  const std::string right = "k = fast_depth; k < depth";
  const std::size_t at = description.source.find(right);
  REQUIRE(at != std::string::npos);
  description.source.replace(at, right.size(), "k = fast_depth + 1; k < depth");
  auto package = required(KernelPackage::open(required(pack(description)), "gemm"));
  const auto device = open_first_device();
  const Configuration& configuration = package->default_configuration();
  const auto program =
      compile(*device, *package, package->entry(), package->compile_options(configuration));
  const GemmProblem problem{9, 21, 35, 1.0f, 1.0f};
  auto plan = required(package->plan({problem.m, problem.n, problem.k}, configuration));
  CHECK(run_and_count_wrong(*device, *program, plan.first().range, problem) > 0);
}

// As few as contain every value; campaigns of more (IDLETUNE_GEMM_CONFIGURATIONS) and others
// (IDLETUNE_GEMM_SEED) are started by hand and recorded in kernels/results.md.
TEST_CASE("random configurations of gemm with every parameter value are right for every shape") {
  const auto package = open_gemm();
  const auto device = open_first_device();
  const auto configurations = covering_configurations(
      package->space(), test::number_from_environment("IDLETUNE_GEMM_CONFIGURATIONS", 1),
      test::number_from_environment("IDLETUNE_GEMM_SEED", kGemmSeed));
  MESSAGE(configurations.size() << " configurations");
  for (const Configuration& configuration : configurations) {
    check_configuration(*device, *package, configuration, kProblems);
  }
}

// Also run under a checker of races and invalid accesses: tests/integration/kernels. The shape has
// both edges, more than one tile of depth, and a rest that KWI does not divide.
TEST_CASE("every parameter value of gemm is right for a tiny shape") {
  const auto package = open_gemm();
  const auto device = open_first_device();
  const std::vector<GemmProblem> problems{{9, 21, 35, 1.0f, 1.0f}};
  check_configuration(*device, *package, package->default_configuration(), problems);
  const auto work_items = [&](const Configuration& configuration) {
    const Range range = package->plan({9, 21, 35}, configuration).value().first().range;
    return static_cast<double>(range.global[0] * range.global[1]);
  };
  for (const Configuration& configuration :
       covering_configurations(package->space(), 1, kGemmSeed, work_items)) {
    check_configuration(*device, *package, configuration, problems);
  }
}
