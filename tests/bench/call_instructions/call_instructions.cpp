// Calls that a tool counts the instructions of: products, launches of a kernel of one's own, or
// what an iteration of CG enqueues, on an OpenCL library that does nothing. usage:
// call_instructions gemm|launch|iteration COUNT
#include <cstdlib>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/gemm.hpp>
#include <idletune/opencl.hpp>

#include "kernels/krylov/device_matrix.hpp"
#include "kernels/krylov/device_vectors.hpp"
#include "models/host/pack/pack.hpp"
#include "tests/bench/required.hpp"
#include "tests/paths.hpp"
#include "tests/unit/package/made_kernels.hpp"

namespace idletune::bench {
namespace {

AgentOptions quiet() {
  AgentOptions options;
  options.read_environment = false;
  options.model = kNoModel;
  options.mode = Mode::off;
  return options;
}

void products(Device& device, int count) {
  Agent agent = required(Agent::open(quiet()));
  Gemm gemm = required(Gemm::open(agent, device));
  const auto buffer = required(device.allocate(64 * 64 * sizeof(float)));
  const auto other = required(device.allocate(64 * 64 * sizeof(float)));
  Product product;
  product.m = product.n = product.k = 64;
  product.a = product.b = {buffer->argument(), 0, 64};
  product.c = {other->argument(), 0, 64};
  for (int i = 0; i < count; ++i) require(gemm.multiply(product));
}

void launches(Device& device, int count) {
  KernelDescription description =
      test::made_kernel("scale", "__kernel void scale(__global float* x, int n) {}");
  description.dialect = Dialect::opencl;
  description.parameters = {{"WG", ParameterKind::work_group, {64}, 64}};
  description.launch.global = {"round_up(N, WG)"};
  description.launch.local = {"WG"};
  description.arguments = {test::made_buffer("x", "N", Access::inout),
                           test::made_dimension("n", "N")};
  Agent agent = required(Agent::open(quiet()));
  TunedKernel kernel = required(agent.kernel(device, required(pack(description))));
  const auto buffer = required(device.allocate(1000 * sizeof(float)));
  for (int i = 0; i < count; ++i) require(kernel.launch({1000}, buffer->argument()));
}

// Steps apart: a product, three sums of vectors, two inner products.
void iterations(Device& device, int count) {
  const auto queue = required(opencl::application_queue(device));
  krylov::SparsityPattern pattern;
  constexpr std::int32_t kRows = 1000;
  pattern.rows = pattern.columns = kRows;
  for (std::int32_t row = 0; row < kRows; ++row) {
    pattern.column.push_back(row);
    pattern.row_start.push_back(row + 1);
  }
  krylov::DeviceKernels kernels(device, krylov::Precision::f64);
  krylov::DeviceMatrix matrix(
      *queue, required(krylov::convert(pattern, krylov::SparseFormat::csr, 8, 1 << 30)), 8);
  require(matrix.upload(std::vector<double>(kRows, 1.0)));
  krylov::DeviceVectors vectors(kernels, *queue, kRows);
  const auto p = vectors.allocate(), q = vectors.allocate(), x = vectors.allocate();
  for (int i = 0; i < count; ++i) {
    require(matrix.multiply(kernels, {0, 64}, *p, *q));
    (void)vectors.dot(*p, *q);
    vectors.axpby(1, *p, 1, *x);
    vectors.axpby(-1, *q, 1, *p);
    (void)vectors.dot(*q, *q);
    vectors.axpby(1, *q, 0.5, *p);
  }
  require(vectors.status());
}

int run(const std::string& what, int count) {
  opencl::OpenOptions stub;
  stub.library = IDLETUNE_STUB_OPENCL;
  const auto device = required(opencl::open(0, stub));
  const struct {
    const char* name;
    void (*call)(Device&, int);
  } ways[] = {{"gemm", products}, {"launch", launches}, {"iteration", iterations}};
  for (const auto& way : ways) {
    if (what == way.name) return way.call(*device, count), 0;
  }
  return 2;
}

}  // namespace
}  // namespace idletune::bench

int main(int count, char** arguments) {
  if (count != 3) return 2;
  return idletune::bench::ended("call_instructions", [&] {
    return idletune::bench::run(arguments[1], std::atoi(arguments[2]));
  });
}
