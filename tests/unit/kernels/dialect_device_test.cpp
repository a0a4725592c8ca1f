// The portable dialect as OpenCL C on this machine's device: every width of vectors, atomic
// additions, and the line numbers of errors. As CUDA C++: tests/integration/cuda_compile.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

// Each work item computes fma(x, y, 2) - y * y for WIDTH elements behind an unaligned start, the
// reciprocal root of its sum of lanes, and adds 1 and its number to two counters.
constexpr const char* kSource = R"(
KERNEL WORK_GROUP(4, 1, 1)
void probe(const GLOBAL float* RESTRICT x, CONSTANT_POINTER float* RESTRICT y,
           GLOBAL float* RESTRICT out, GLOBAL float* RESTRICT roots, GLOBAL float* RESTRICT sum,
           GLOBAL int* RESTRICT count) {
  LOCAL_ARRAY float local_roots[4];
  const int item = GROUP_ID(0) * 4 + LOCAL_ID(0);
  const GLOBAL float* own = x + 1 + item * WIDTH;
  const FLOAT_VECTOR(WIDTH) a = LOAD_VECTOR(WIDTH, own);
  const FLOAT_VECTOR(WIDTH) b = SPLAT(WIDTH, y[0]);
  const FLOAT_VECTOR(WIDTH) result = MULTIPLY_ADD(a, b, SPLAT(WIDTH, 2.0f)) - b * b;
  STORE_VECTOR(WIDTH, result + SPLAT(WIDTH, 0.0f), out + 1 + item * WIDTH);
  float lanes[WIDTH];
  LANES_OF(WIDTH, result, lanes);
  float total = 0.0f;
  for (int lane = 0; lane < WIDTH; ++lane) total += lanes[lane];
  for (int lane = 0; lane < WIDTH; ++lane) lanes[lane] = total;
  const FLOAT_VECTOR(WIDTH) root = RSQRT(VECTOR_OF(WIDTH, lanes));
  LANES_OF(WIDTH, root, lanes);
  local_roots[3 - LOCAL_ID(0)] = lanes[WIDTH - 1];
  LOCAL_BARRIER();
  if (GLOBAL_ID(0) == item && GROUP_COUNT(0) == 8) roots[item] = local_roots[3 - LOCAL_ID(0)];
  ATOMIC_ADD_FLOAT(sum, FUSED((float)item, 1.0f, 0.0f));
  ATOMIC_ADD_INT(count, 1);
}
)";
constexpr int kItems = 32;

KernelDescription probe() {
  KernelDescription description = test::made_kernel("probe", kSource);
  description.source_file = "probe.cl";
  description.parameters = {{"WIDTH", ParameterKind::vectorization, {1, 2, 4, 8, 16}, 1}};
  description.launch.global = {"N"};
  description.launch.local = {"4"};
  description.arguments = {test::made_buffer("x", "N * 16 + 1")};
  return description;
}

std::shared_ptr<const KernelPackage> packed(const KernelDescription& description) {
  return required(KernelPackage::open(required(pack(description)), "probe"));
}

}  // namespace

TEST_CASE("vectors of every width and atomic additions work in the portable dialect") {
  const auto package = packed(probe());
  const auto device = open_first_device();
  for (std::int64_t width : {1, 2, 4, 8, 16}) {
    CAPTURE(width);
    const auto program = compile(*device, *package, "probe", package->compile_options({width}));
    std::vector<float> values(kItems * 16 + 1);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97) / 8;
    const auto x = upload(*device, values);
    const auto y = upload<float>(*device, {0.5f});
    const auto out = upload(*device, std::vector<float>(values.size(), -1.0f));
    const auto roots = upload(*device, std::vector<float>(kItems, -1.0f));
    const auto sum = upload<float>(*device, {3.0f});
    const auto count = upload<float>(*device, {0.0f});
    const std::array<Argument, 6> arguments{x->argument(),     y->argument(),   out->argument(),
                                            roots->argument(), sum->argument(), count->argument()};
    Range range;
    range.global[0] = kItems;
    range.local[0] = 4;
    run(*device, *program, range, arguments);

    const auto results = download(*device, *out, values.size());
    const auto got_roots = download(*device, *roots, kItems);
    const auto lanes = static_cast<std::size_t>(width);
    CHECK(results[0] == -1.0f);
    for (std::size_t item = 0; item < kItems; ++item) {
      float total = 0;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t at = 1 + item * lanes + lane;
        CHECK(results[at] == values[at] * 0.5f + 1.75f);  // exact: eighths
        total += results[at];
      }
      CHECK(got_roots[item] == doctest::Approx(1 / std::sqrt(total)).epsilon(1e-6));
    }
    if (lanes < 16) CHECK(results[1 + kItems * lanes] == -1.0f);
    CHECK(download(*device, *sum, 1)[0] == 3.0f + kItems * (kItems - 1) / 2);
    std::int32_t counted = 0;
    REQUIRE(
        device->read(*count, 0, MutableBytes(reinterpret_cast<std::uint8_t*>(&counted), 4)).ok());
    CHECK(counted == kItems);
  }
}

TEST_CASE("a compiler's error names the line of the kernel's own file") {
  KernelDescription description = probe();
  description.source = "// one\n// two\nno_such_type broken_on_purpose;\n";
  const auto package = packed(description);
  const auto device = open_first_device();
  CompileRequest request;
  request.source = package->source();
  request.entry = "probe";
  const std::string options = package->compile_options({1});
  request.options = options;
  const auto program = device->compile(request);
  REQUIRE(!program.ok());
  const char* place = test::asks_for_cuda() ? "probe.cl(3): " : "probe.cl:3:";
  CHECK_MESSAGE(program.status().message().find(place) != std::string::npos,
                program.status().message());
}
