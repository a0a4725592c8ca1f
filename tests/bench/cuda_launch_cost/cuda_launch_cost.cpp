// Measures what TunedKernel::launch costs beside a raw cuLaunchKernel that does the same: on a
// driver that does nothing, where the difference is all idletune's, and with --device on the
// machine's own GPU. The two take turns, so that whatever else the machine does meets both. Exits
// with 1 if a launch allocated on the heap or did not do what the raw call does; never because of a
// time.

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/cuda.hpp>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/cuda/driver.hpp"
#include "platform/cuda/nvrtc.hpp"
#include "tests/bench/launch_cost/measurement.hpp"
#include "tests/bench/required.hpp"
#include "tests/bench/stub_cuda/stub_control.h"
#include "tests/loaded_library.hpp"
#include "tests/paths.hpp"

namespace idletune::bench {
namespace {

constexpr float kAlpha = 1.5f;
constexpr float kBeta = -0.5f;

// The GEMM of this repository; with one configuration alone where nothing is to be tuned.
std::vector<std::uint8_t> gemm_package(bool nothing_to_tune) {
  KernelDescription gemm =
      required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/kernels/gemm/gemm.xml"));
  for (DescribedParameter& parameter : gemm.parameters) {
    if (nothing_to_tune) parameter.values = {parameter.default_value};
  }
  return required(pack(gemm));
}

struct Scenario {
  const char* name;
  std::size_t shapes;
  bool tuning;           // goes on meanwhile, and background tuning is on
  bool context_current;  // the application's, in the launching thread
};

constexpr Scenario kScenarios[] = {
    {"one shape", 1, false, true},
    {"16 shapes in turn", 16, false, true},
    {"one shape, while tuning", 1, true, true},
    {"one shape, no context current", 1, false, false},
};

// The same GEMM, launched through the agent and through cuLaunchKernel, on the same stream and
// buffers, with the same eight arguments.
class Contest {
 public:
  Contest(const cuda::OpenOptions& libraries, const Scenario& scenario) {
    for (std::size_t i = 0; i < scenario.shapes; ++i) {
      const auto step = static_cast<std::int64_t>(i);
      shapes_.push_back(Shape{64 + 32 * (step % 4), 64 + 32 * (step / 4), 64});
    }
    driver_ = required(cuda::load_driver(libraries.library));
    call(driver_->DeviceGet(&ordinal_, 0), "cuDeviceGet");
    call(driver_->DevicePrimaryCtxRetain(&context_, ordinal_), "cuDevicePrimaryCtxRetain");
    call(driver_->CtxPushCurrent(context_), "cuCtxPushCurrent");
    call(driver_->StreamCreate(&stream_, cuda::kStreamNonBlocking), "cuStreamCreate");
    device_ = required(cuda::adopt(context_, stream_, libraries));
    std::vector<std::uint8_t> bytes = gemm_package(!scenario.tuning);
    make_raw_kernel(libraries, *required(KernelPackage::open(bytes, "gemm")));
    for (std::unique_ptr<Buffer>& buffer : buffers_) {
      buffer = required(device_->allocate(256 * 256 * sizeof(float)));
    }
    AgentOptions options;
    options.read_environment = false;
    options.model = kNoModel;
    options.helper = IDLETUNE_BUILT_HELPER;
    agent_ = std::make_unique<Agent>(required(Agent::open(options)));
    tuned_ = std::make_unique<TunedKernel>(required(agent_->kernel(*device_, std::move(bytes))));
    if (scenario.tuning) require(agent_->start_background());
    if (!scenario.context_current) pop();
    pushes_per_launch_ = !scenario.context_current;
  }
  ~Contest() {
    if (pushes_per_launch_) (void)driver_->CtxPushCurrent(context_);
    (void)driver_->StreamSynchronize(stream_);
    tuned_.reset();
    agent_.reset();
    for (std::unique_ptr<Buffer>& buffer : buffers_) buffer.reset();
    (void)driver_->ModuleUnload(module_);
    device_.reset();
    (void)driver_->StreamDestroy(stream_);
    pop();
    (void)driver_->DevicePrimaryCtxRelease(ordinal_);
  }

  std::size_t shape_count() const { return shapes_.size(); }
  const cuda::Driver& driver() const { return *driver_; }
  const DeviceInfo& info() const { return device_->info(); }
  Agent& agent() { return *agent_; }

  // As an application that wrote it by hand would have it.
  void launch_raw(std::size_t i) {
    const Shape& shape = shapes_[i];
    const LaunchPlan& plan = plans_[i];
    int m = static_cast<int>(shape[0]), n = static_cast<int>(shape[1]),
        k = static_cast<int>(shape[2]);
    float alpha = kAlpha, beta = kBeta;
    const void* memory[3];
    for (int b = 0; b < 3; ++b) std::memcpy(&memory[b], arguments_[b].data(), sizeof memory[b]);
    void* parameters[] = {&m, &n, &k, &memory[0], &memory[1], &memory[2], &alpha, &beta};
    if (pushes_per_launch_) call(driver_->CtxPushCurrent(context_), "cuCtxPushCurrent");
    call(driver_->LaunchKernel(function_, blocks(plan.first().range, 0),
                               blocks(plan.first().range, 1), 1,
                               static_cast<unsigned>(plan.first().range.local[0]),
                               static_cast<unsigned>(plan.first().range.local[1]), 1, 0, stream_,
                               parameters, nullptr),
         "cuLaunchKernel");
    if (pushes_per_launch_) pop();
  }
  void launch_idletune(std::size_t i) {
    const Status status =
        tuned_->launch(shapes_[i], arguments_[0], arguments_[1], arguments_[2], kAlpha, kBeta);
    if (!status.ok()) require(status);
  }
  void finish() {
    if (pushes_per_launch_) call(driver_->CtxPushCurrent(context_), "cuCtxPushCurrent");
    call(driver_->StreamSynchronize(stream_), "cuStreamSynchronize");
    if (pushes_per_launch_) pop();
  }
  void remember_arguments() {
    for (std::size_t b = 0; b < 3; ++b) arguments_[b] = buffers_[b]->argument();
  }

 private:
  void call(cuda::Error error, const char* name) {
    if (error != cuda::kSuccess) require(driver_->to_status(error, name));
  }
  void pop() {
    cuda::ContextHandle popped = nullptr;
    (void)driver_->CtxPopCurrent(&popped);
  }
  static unsigned blocks(const Range& range, std::size_t axis) {
    return static_cast<unsigned>(range.global[axis] / range.local[axis]);
  }
  void make_raw_kernel(const cuda::OpenOptions& libraries, const KernelPackage& package) {
    const auto nvrtc = required(cuda::Nvrtc::load(libraries.nvrtc_library, driver_->version));
    int major = 0, minor = 0;
    call(driver_->DeviceGetAttribute(&major, cuda::DeviceAttribute::compute_capability_major,
                                     ordinal_),
         "cuDeviceGetAttribute");
    call(driver_->DeviceGetAttribute(&minor, cuda::DeviceAttribute::compute_capability_minor,
                                     ordinal_),
         "cuDeviceGetAttribute");
    const Configuration& configuration = package.default_configuration();
    const std::vector<std::uint8_t> image = required(
        nvrtc->compile(package.source(), package.entry(), package.compile_options(configuration),
                       required(nvrtc->target_for(10 * major + minor))));
    call(driver_->ModuleLoadDataEx(&module_, image.data(), 0, nullptr, nullptr),
         "cuModuleLoadDataEx");
    call(driver_->ModuleGetFunction(&function_, module_, std::string(package.entry()).c_str()),
         "cuModuleGetFunction");
    for (const Shape& shape : shapes_) {
      plans_.push_back(required(package.plan(shape, configuration)));
    }
  }

  std::vector<Shape> shapes_;
  std::vector<LaunchPlan> plans_;
  std::shared_ptr<const cuda::Driver> driver_;
  cuda::DeviceOrdinal ordinal_ = 0;
  cuda::ContextHandle context_ = nullptr;
  cuda::StreamHandle stream_ = nullptr;
  cuda::ModuleHandle module_ = nullptr;
  cuda::FunctionHandle function_ = nullptr;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffer> buffers_[3];
  Argument arguments_[3];
  std::unique_ptr<Agent> agent_;
  std::unique_ptr<TunedKernel> tuned_;
  bool pushes_per_launch_ = false;
};

struct Stub {
  const test::LoadedLibrary library{IDLETUNE_STUB_CUDA};
  decltype(&cuda_stub_reset) reset = library["cuda_stub_reset"];
  decltype(&cuda_stub_set) set = library["cuda_stub_set"];
  decltype(&cuda_stub_calls) calls = library["cuda_stub_calls"];
  decltype(&cuda_stub_last_launch) last_launch = library["cuda_stub_last_launch"];
};

// `same_range`: false where another configuration may have been adopted.
bool same_launch(const CudaStubLaunch& a, CudaStubLaunch b, bool same_range) {
  if (!same_range) {
    std::memcpy(b.grid, a.grid, sizeof b.grid);
    std::memcpy(b.block, a.block, sizeof b.block);
    b.shared_bytes = a.shared_bytes;
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

Measurement measure_on_stub(const Stub& stub, const Scenario& scenario, const Effort& effort) {
  stub.reset();
  stub.set(CUDA_STUB_RECORD_LAUNCHES, 0);
  stub.set(CUDA_STUB_GEMM, 1);
  const Variable library("IDLETUNE_CUDA_LIBRARY", IDLETUNE_STUB_CUDA);
  const Variable compiler("IDLETUNE_NVRTC_LIBRARY", IDLETUNE_STUB_NVRTC);
  const Variable computing("STUB_CUDA_GEMM", "2");
  cuda::OpenOptions libraries;
  libraries.library = IDLETUNE_STUB_CUDA;
  libraries.nvrtc_library = IDLETUNE_STUB_NVRTC;
  Contest contest(libraries, scenario);
  contest.remember_arguments();
  // The stub allocates the events that the production watch asks for; real drivers may, too.
  exclude_library_of(reinterpret_cast<const void*>(contest.driver().LaunchKernel));
  const unsigned long before = stub.calls("cuLaunchKernel");
  Measurement result = measure_blocks(scenario.name, contest, effort, scenario.tuning);
  const unsigned long launches = stub.calls("cuLaunchKernel") - before;
  const unsigned long expected = result.launches + result.raw_launches;
  if (scenario.tuning ? launches < expected : launches != expected) {
    throw std::runtime_error(std::to_string(launches) + " launches reached the driver, expected " +
                             std::to_string(expected));
  }
  require_same_launches<CudaStubLaunch>(stub, CUDA_STUB_RECORD_LAUNCHES, contest,
                                        [&](const auto& raw, const auto& tuned) {
                                          return same_launch(raw, tuned, !scenario.tuning);
                                        });
  exclude_library_of(nullptr);
  return result;
}

int run(bool quick, bool on_device) {
  const Effort effort = quick ? Effort{20, 100, 1} : Effort{2000, 500, 20};
  print_table_head();
  bool sane = true;
  if (on_device) {
    for (const Scenario& scenario : kScenarios) {
      Contest contest(cuda::OpenOptions(), scenario);
      contest.remember_arguments();
      print_row(measure_blocks(scenario.name, contest, effort, scenario.tuning), false);
      if (&scenario == std::end(kScenarios) - 1) {
        std::printf("\nOn %s (%s).\n", contest.info().name.c_str(), contest.info().driver.c_str());
      }
    }
    return 0;
  }
  const Stub stub;
  for (const Scenario& scenario : kScenarios) {
    const Measurement m = measure_on_stub(stub, scenario, effort);
    print_row(m, true);
    sane = sane && m.first_allocations + m.allocations == 0 && m.raw_ns.median > 0;
  }
  if (!sane) std::fprintf(stderr, "cuda_launch_cost: launches allocated, expected never\n");
  return sane ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  bool quick = false, on_device = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--device") == 0) {
      on_device = true;
    } else {
      std::fprintf(stderr, "usage: cuda_launch_cost [--quick] [--device]\n");
      return 2;
    }
  }
  return idletune::bench::ended("cuda_launch_cost",
                                [&] { return idletune::bench::run(quick, on_device); });
}
