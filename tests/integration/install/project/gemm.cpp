// Multiplies two matrices with the installed library, where there is an OpenCL device.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <idletune/gemm.hpp>
#include <idletune/opencl.hpp>

namespace {

int fail(const idletune::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return EXIT_FAILURE;
}

}  // namespace

int main() {
  auto device = idletune::opencl::open(0);
  if (!device) {
    std::printf("no OpenCL device: %s\n", device.status().message().c_str());
    return device.code() == idletune::StatusCode::not_found ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  idletune::AgentOptions options;
  options.mode = idletune::Mode::off;
  auto agent = idletune::Agent::open(options);
  if (!agent) return fail(agent.status());
  auto gemm = idletune::Gemm::open(*agent, **device);
  if (!gemm) return fail(gemm.status());
  auto queue = idletune::opencl::application_queue(**device);
  if (!queue) return fail(queue.status());

  const std::vector<float> ones(64 * 64, 1.0f);
  const idletune::Bytes bytes(reinterpret_cast<const std::uint8_t*>(ones.data()), 64 * 64 * 4);
  auto a = (*queue)->allocate(bytes.size());
  auto c = (*queue)->allocate(bytes.size());
  if (!a || !c) return EXIT_FAILURE;
  if (!(*queue)->write(**a, 0, bytes).ok()) return EXIT_FAILURE;
  idletune::Product product;
  product.m = product.n = product.k = 64;
  product.a = {(*a)->argument(), 0, 64};
  product.b = {(*a)->argument(), 0, 64};
  product.c = {(*c)->argument(), 0, 64};
  const idletune::Status status = gemm->multiply(product);
  if (!status.ok()) return fail(status);
  const auto last = (*queue)->number<float>(**c, (64 * 64 - 1) * 4);
  if (!last) return fail(last.status());
  std::printf("the last element is %g\n", static_cast<double>(*last));
  return *last == 64.0f ? EXIT_SUCCESS : EXIT_FAILURE;
}
