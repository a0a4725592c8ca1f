// The kernel that is wrong on purpose (tests/data/kernels): each variant is wrong as it says.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "models/core/random.hpp"
#include "tests/paths.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

constexpr std::size_t kGuardElements = 64;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Findings {
  std::size_t wrong = 0;  // finite, but not the result
  std::size_t nan = 0;
  std::size_t outside = 0;  // elements of the guard zone that were written
};

Findings run_broken(Device& device, const KernelPackage& package,
                    const Configuration& configuration, std::int64_t rows, std::int64_t columns) {
  auto plan = required(package.plan({rows, columns}, configuration));
  const auto program =
      compile(device, package, package.entry(), package.compile_options(configuration));
  const auto height = static_cast<std::size_t>(rows);
  const auto width = static_cast<std::size_t>(columns);
  const float scale = 1.5f;
  Random random(1);
  std::vector<float> in(height * width);
  for (float& x : in) x = static_cast<float>(0.5 + random.uniform());
  const auto in_buffer = upload(device, in);
  const auto out_buffer = upload(device, std::vector<float>(in.size() + kGuardElements, kNan));
  const std::array<Argument, 5> arguments{
      Argument(static_cast<std::int32_t>(rows)), Argument(static_cast<std::int32_t>(columns)),
      in_buffer->argument(), out_buffer->argument(), Argument(scale)};
  run(device, *program, plan.first().range, arguments);
  const auto out = download(device, *out_buffer, in.size() + kGuardElements);

  Findings findings;
  for (std::size_t r = 0; r < height; ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      const float got = out[c * height + r];
      const float expected = scale * in[r * width + c];
      if (std::isnan(got)) {
        ++findings.nan;
      } else if (!(std::fabs(got - expected) <= 1e-6f * expected)) {
        ++findings.wrong;
      }
    }
  }
  for (std::size_t i = in.size(); i < out.size(); ++i) {
    if (!std::isnan(out[i])) ++findings.outside;
  }
  return findings;
}

std::shared_ptr<const KernelPackage> open_broken() {
  return open_package(IDLETUNE_TEST_DATA_FOLDER "/kernels/broken.xml");
}

}  // namespace

TEST_CASE("each wrong variant of the broken kernel is wrong in its own way") {
  if (test::asks_for_cuda()) return test::skip("OpenCL alone");
  const auto package = open_broken();
  const auto device = open_first_device();
  const std::int64_t rows = 100;
  const std::int64_t columns = 70;
  for (std::int64_t tile : {8, 16}) {
    CAPTURE(tile);
    const auto run_variant = [&](std::int64_t bug) {
      return run_broken(*device, *package, {bug, tile}, rows, columns);
    };
    const Findings right = run_variant(0);
    CHECK(right.wrong == 0);
    CHECK(right.nan == 0);
    CHECK(right.outside == 0);

    CHECK(run_variant(1).wrong > 1000);
    if (device->info().is_cpu) CHECK(run_variant(2).wrong > 1000);
    CHECK(run_variant(3).wrong > 1000);

    const Findings not_a_number = run_variant(4);
    CHECK(not_a_number.wrong == 0);
    CHECK(not_a_number.nan == 1);

    const Findings one_wrong = run_variant(5);
    CHECK(one_wrong.wrong == 1);
    CHECK(one_wrong.nan == 0);

    const Findings beyond = run_variant(6);
    CHECK(beyond.wrong == 0);
    CHECK(beyond.outside == 4);

    CHECK(run_variant(9).nan == static_cast<std::size_t>(rows * columns));
  }
}

TEST_CASE("one element in a million is wrong in a large output too") {
  if (test::asks_for_cuda()) return test::skip("OpenCL alone");
  const auto package = open_broken();
  const auto device = open_first_device();
  const Findings findings = run_broken(*device, *package, {5, 16}, 1200, 2500);
  CHECK(findings.wrong == 3);
  CHECK(findings.nan == 0);
  CHECK(findings.outside == 0);
}

TEST_CASE("the broken kernel says how much local memory it will ask for") {
  const auto package = open_broken();
  auto plan = required(package->plan({100, 70}, {8, 8}));
  CHECK(plan.first().local_memory_bytes == 256u << 20);
  CHECK(plan.first().local_memory_bytes > open_first_device()->info().local_memory_bytes);
}

// Run on its own under a checker of races, to show that the checker sees what it should.
TEST_CASE("a missing barrier runs to its end") {
  if (test::asks_for_cuda()) return test::skip("OpenCL alone");
  const auto package = open_broken();
  const auto device = open_first_device();
  CHECK(run_broken(*device, *package, {2, 8}, 9, 40).outside == 0);
}
