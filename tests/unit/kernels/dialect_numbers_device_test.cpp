// Reals of both precisions, halves in memory and sums over a group, in the portable dialect on this
// machine's device. As CUDA C++: tests/integration/cuda_compile.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/scalar.hpp>

#include "tests/paths.hpp"
#include "tests/unit/kernels/covering.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

std::shared_ptr<const KernelPackage> opened(const std::string& name) {
  return open_package(IDLETUNE_TEST_DATA_FOLDER "/packages/" + name + ".xml");
}

// Every value of every parameter; eighths are summed exactly in either precision.
template <class T>
void check_moments(Device& device, const std::string& name, T unit) {
  const auto package = opened(name);
  const Shape shape{2, 37};
  std::vector<T> x(2 * 37);
  std::vector<T> expected(4, T{0});
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = unit * static_cast<T>(static_cast<int>(i * 7 % 19) - 9);
    expected[i / 37 * 2] += x[i];
    expected[i / 37 * 2 + 1] += x[i] * x[i];
  }
  for (const Configuration& configuration :
       covering_configurations(package->space(), 0, /*seed=*/20261122)) {
    CAPTURE(to_text(package->space(), configuration));
    const auto program =
        compile(device, *package, package->entry(), package->compile_options(configuration));
    const auto input = upload(device, x);
    const auto sums = upload(device, std::vector<T>(4, T{-1}));
    const std::int32_t n = 37;
    const Argument arguments[] = {Argument(n), input->argument(), sums->argument()};
    const auto plan = required(package->plan(shape, configuration));
    run(device, *program, plan.first().range, arguments);
    CHECK(download<T>(device, *sums, 4) == expected);
  }
}

void check_halves(Device& device) {
  const auto package = opened("halves");
  constexpr std::size_t kCount = 37;
  std::vector<std::uint16_t> x(kCount), y(kCount), expected(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const Half left(static_cast<double>(i) / 3 - 5);
    const Half right(1 / static_cast<double>(i + 1));
    x[i] = left.bits;
    y[i] = right.bits;
    const float sum = 2 * static_cast<float>(left.value()) + static_cast<float>(right.value());
    expected[i] = Half(static_cast<double>(sum)).bits;
  }
  for (std::int64_t width : {1, 2, 4, 8, 16}) {
    CAPTURE(width);
    const auto program =
        compile(device, *package, package->entry(), package->compile_options({width}));
    const auto input = upload(device, x);
    const auto both = upload(device, y);
    const std::int32_t n = kCount;
    const Argument arguments[] = {Argument(n), input->argument(), both->argument()};
    run(device, *program, package->plan({kCount}, {width})->first().range, arguments);
    CHECK(download<std::uint16_t>(device, *both, kCount) == expected);
  }
}

}  // namespace

TEST_CASE("every parameter value of dialect_numbers is right for a tiny shape") {
  const auto device = open_first_device();
  check_moments<float>(*device, "moments", 0.125f);
  // Beyond what a float holds.
  check_moments<double>(*device, "moments_double", 1.0 + 1.0 / (1 << 20));
  check_halves(*device);
}

TEST_CASE("a device without double precision refuses doubles as unsupported, floats work") {
  if (test::asks_for_cuda()) return test::skip("OpenCL alone");
  const auto device = open_first_device();
  // As its compiler would see it.
  const std::string without = "#undef cl_khr_fp64\n#undef __opencl_c_fp64\n";
  for (const bool is_double : {true, false}) {
    const auto package = opened(is_double ? "moments_double" : "moments");
    const std::string source = without + std::string(package->source());
    const std::string options = package->compile_options(package->default_configuration());
    CompileRequest request;
    request.source = source;
    request.entry = "moments";
    request.options = options;
    const auto program = device->compile(request);
    CHECK(program.ok() != is_double);
    if (!is_double) continue;
    CHECK(program.code() == StatusCode::unsupported);
    CHECK(program.status().message().find("this device has no double precision") !=
          std::string::npos);
  }
}
