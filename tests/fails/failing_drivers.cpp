#include "tests/fails/failing_drivers.hpp"

#include <cstdlib>

#include <idletune/cuda.hpp>
#include <idletune/opencl.hpp>

#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/opencl/stub.hpp"

namespace idletune::test {
namespace {

// What both stubs are asked for alike.
template <class Library, int kNoResources>
class OnStub : public FailingDriver {
 public:
  void fail(unsigned long n) final { stub_.fail_call(n, n == 0 ? 0 : kNoResources); }
  unsigned long counted_calls() const final { return stub_.counted_calls(); }
  std::string failed_call() const final {
    const char* const name = stub_.failed_call();
    return name != nullptr ? name : "";
  }
  long new_objects() const final { return stub_.new_objects(); }

 protected:
  Library stub_;
};

// CUDA_ERROR_OUT_OF_MEMORY
class FailingCuda final : public OnStub<CudaStub, 2> {
 public:
  Result<std::unique_ptr<Device>> open() override { return cuda::open(0, stub_.options()); }
  Dialect dialect() const override { return Dialect::cuda; }
  std::string entry() const override { return "scale"; }
  std::string source() const override {
    return "extern \"C\" __global__ void scale(float* out, const float* in, float factor, int n) "
           "{}";
  }
  void set_environment() const override {
    ::setenv("IDLETUNE_CUDA_LIBRARY", stub_.path.c_str(), 1);
    ::setenv("IDLETUNE_NVRTC_LIBRARY", stub_.nvrtc_path.c_str(), 1);
  }
  unsigned long fail_compiler(unsigned long n) override {
    return stub_.fail_nvrtc_call(n, n == 0 ? 0 : kCompilerHasNoMemory);
  }
  long live_programs() const override { return stub_.live_programs(); }

 private:
  static constexpr int kCompilerHasNoMemory = 1;  // NVRTC_ERROR_OUT_OF_MEMORY
};

// CL_OUT_OF_RESOURCES
class FailingOpencl final : public OnStub<Stub, -5> {
 public:
  Result<std::unique_ptr<Device>> open() override {
    opencl::OpenOptions options;
    options.library = stub_.path;
    return opencl::open(0, options);
  }
  Dialect dialect() const override { return Dialect::opencl; }
  std::string entry() const override { return "stub_scale"; }
  std::string source() const override {
    return "__kernel void stub_scale(__global float* out, __global const float* in, float factor, "
           "int n) {}";
  }
  void set_environment() const override {
    ::setenv("IDLETUNE_OPENCL_LIBRARY", stub_.path.c_str(), 1);
  }
  unsigned long fail_compiler(unsigned long) override { return 0; }
  long live_programs() const override { return 0; }
};

}  // namespace

std::unique_ptr<FailingDriver> failing_cuda() { return std::make_unique<FailingCuda>(); }
std::unique_ptr<FailingDriver> failing_opencl() { return std::make_unique<FailingOpencl>(); }

}  // namespace idletune::test
