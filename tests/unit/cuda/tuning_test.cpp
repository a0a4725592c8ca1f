// Trials, the agent and the kernels' dialects on the stub CUDA driver, which runs one kernel on the
// CPU. Its options say how a configuration behaves; the helper program opens the same library.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <idletune/idletune.h>
#include <idletune/agent.hpp>
#include <idletune/in_process.hpp>

#include "agent/trial/helper_trials.hpp"
#include "agent/trial/in_process_trials.hpp"
#include "agent/trial/limits.hpp"
#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/agent/first_step.hpp"
#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace std::chrono_literals;
using idletune::test::CudaStub;
using idletune::test::expect_a_step;
using idletune::test::files_in;
using idletune::test::TemporaryFolder;

namespace {

constexpr Nanoseconds kPatience = 5min;

// out = factor * in. RUN_US is how long it takes; what else it does is BEHAVIOUR.
KernelDescription scale_description(const std::vector<std::int64_t>& behaviours) {
  KernelDescription kernel = test::made_kernel(
      "scale",
      "extern \"C\" __global__ void scale(float* out, const float* in, float factor, int n) {}\n"
      "extern \"C\" __global__ void other(float* out, const float* in, float factor, int n) {}");
  kernel.dialect = Dialect::cuda;
  kernel.parameters = {{"BEHAVIOUR", ParameterKind::other, behaviours, 0},
                       {"RUN_US", ParameterKind::work_group, {500, 100, 200, 400}, 500}};
  kernel.launch.global = {"round_up(N, 32)"};
  kernel.launch.local = {"32"};
  kernel.arguments = {test::made_buffer("out", "N", Access::out), test::made_input("in", "N", 1, 2),
                      test::made_scalar("factor", 3), test::made_dimension("n", "N")};
  return kernel;
}

std::vector<std::uint8_t> packed(const KernelDescription& description) {
  return required(pack(description));
}

std::shared_ptr<const KernelPackage> package_of(const KernelDescription& description) {
  return required(KernelPackage::open(packed(description), "test"));
}

constexpr std::int64_t kAllBehaviours[] = {CUDA_STUB_RIGHT, CUDA_STUB_ILLEGAL_ADDRESS,
                                           CUDA_STUB_WRONG, CUDA_STUB_ENDLESS,
                                           CUDA_STUB_ABORT, CUDA_STUB_OUT_OF_RESOURCES};

std::vector<std::int64_t> all_behaviours() {
  return {std::begin(kAllBehaviours), std::end(kAllBehaviours)};
}

std::string helper_program() {
  const char* helper = std::getenv("IDLETUNE_HELPER");
  REQUIRE_MESSAGE(helper != nullptr, "IDLETUNE_HELPER: expected the path of idletune-helper");
  return helper;
}

DeviceInfo first_device(const CudaStub& stub) {
  auto devices = required(cuda::list(stub.options()));
  return devices[0];
}

std::unique_ptr<Device> open_stub(const CudaStub& stub) {
  return required(cuda::open(0, stub.options()));
}

TrialRequest request(TrialStage stage, std::int64_t behaviour, std::int64_t run_us = 100) {
  TrialRequest result;
  result.stage = stage;
  result.shape = {77};
  result.configuration = {behaviour, run_us};
  result.repeats = 2;
  result.deadline = 2s;
  return result;
}

TrialOutcome run(TrialRunner& trials, const TrialRequest& request) {
  TrialOutcome outcome;
  const Status started = trials.start(request);
  REQUIRE_MESSAGE(started.ok(), started.to_string());
  REQUIRE(trials.poll(kPatience, outcome));
  return outcome;
}

// The helper's libraries, for agents of this process.
struct StubEnvironment {
  explicit StubEnvironment(const CudaStub& stub) {
    ::setenv("IDLETUNE_CUDA_LIBRARY", stub.path.c_str(), 1);
    ::setenv("IDLETUNE_NVRTC_LIBRARY", stub.nvrtc_path.c_str(), 1);
  }
  ~StubEnvironment() {
    ::unsetenv("IDLETUNE_CUDA_LIBRARY");
    ::unsetenv("IDLETUNE_NVRTC_LIBRARY");
  }
};

struct Application {
  Application(Device& opened, std::size_t count) : device(opened) {
    for (std::unique_ptr<Buffer>* buffer : {&out, &in}) {
      auto made = required(device.allocate(count * sizeof(float)));
      *buffer = std::move(made);
    }
    const std::vector<float> ones(count, 1.0f);
    REQUIRE(device.write(*in, 0, test::bytes_of(ones)).ok());
  }
  Status launch(TunedKernel& kernel, std::int64_t n) {
    return kernel.launch({n}, {out->argument(), in->argument(), Argument(3.0f)});
  }
  float output() {
    float value = 0;
    CHECK(device.read(*out, 0, {reinterpret_cast<std::uint8_t*>(&value), sizeof value}).ok());
    return value;
  }
  Device& device;
  std::unique_ptr<Buffer> out, in;
};

}  // namespace

TEST_CASE("the helper opens the CUDA device and takes its sticky errors, crashes and hangs") {
  CudaStub stub;
  HelperTrialsOptions options;
  options.program = helper_program();
  options.source = {stub.path, stub.nvrtc_path, {}, 0};
  HelperTrials trials(first_device(stub), package_of(scale_description(all_behaviours())), options);
  auto check_right = [&] {
    const TrialOutcome right = run(trials, request(TrialStage::check, CUDA_STUB_RIGHT));
    CHECK_MESSAGE(right.status == TrialStatus::correct, right.message);
  };
  check_right();
  const TrialOutcome timed = run(trials, request(TrialStage::measure, CUDA_STUB_RIGHT, 400));
  REQUIRE_MESSAGE(timed.status == TrialStatus::correct, timed.message);
  REQUIRE(timed.samples.size() == 2);
  for (Nanoseconds sample : timed.samples) {
    CHECK(sample.count() == doctest::Approx(400000).epsilon(0.001));
  }
  CHECK(run(trials, request(TrialStage::check, CUDA_STUB_WRONG)).status ==
        TrialStatus::correctness);

  const TrialOutcome illegal = run(trials, request(TrialStage::check, CUDA_STUB_ILLEGAL_ADDRESS));
  CHECK(illegal.status == TrialStatus::runtime);
  CHECK(illegal.message.find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos);
  check_right();  // in a fresh helper: the context of the last one was of no use any more

  const TrialOutcome greedy = run(trials, request(TrialStage::check, CUDA_STUB_OUT_OF_RESOURCES));
  CHECK(greedy.status == TrialStatus::runtime);
  check_right();
  const TrialOutcome crash = run(trials, request(TrialStage::check, CUDA_STUB_ABORT));
  CHECK(crash.status == TrialStatus::crash);
  CHECK(!crash.ambiguous);
  check_right();
  TrialRequest endless = request(TrialStage::check, CUDA_STUB_ENDLESS);
  endless.deadline = 100ms;
  CHECK(run(trials, endless).status == TrialStatus::timeout);
  check_right();
}

TEST_CASE("in this process a sticky error ends trials, and says so instead of blaming the next") {
  CudaStub stub;
  auto device = open_stub(stub);
  TrialExecutor trials(*device, package_of(scale_description(all_behaviours())));
  CHECK(trials.run(request(TrialStage::check, CUDA_STUB_RIGHT)).status == TrialStatus::correct);
  CHECK(trials.run(request(TrialStage::check, CUDA_STUB_OUT_OF_RESOURCES)).status ==
        TrialStatus::runtime);
  CHECK(!trials.poisoned());
  const TrialOutcome illegal = trials.run(request(TrialStage::check, CUDA_STUB_ILLEGAL_ADDRESS));
  CHECK(illegal.status == TrialStatus::runtime);
  CHECK(trials.poisoned());
  const TrialOutcome next = trials.run(request(TrialStage::check, CUDA_STUB_RIGHT));
  CHECK(next.status == TrialStatus::runtime);
  CHECK(next.message.find("is lost to this process") != std::string::npos);
}

TEST_CASE("the agent finds the fast configuration on CUDA, whatever the others do to the helper") {
  CudaStub stub;
  const StubEnvironment environment(stub);
  TemporaryFolder folder;
  auto device = open_stub(stub);
  AgentOptions options;
  options.state = folder.path();
  options.helper = helper_program();
  options.run_deadline = 5s;  // the stub runs on a processor, which others may have
  options.seed = 2;           // an order in which deaths do not follow each other
  auto agent = required(Agent::open(options));
  const std::vector<std::int64_t> behaviours = {CUDA_STUB_RIGHT, CUDA_STUB_ILLEGAL_ADDRESS,
                                                CUDA_STUB_ABORT};
  auto kernel = required(agent.kernel(*device, packed(scale_description(behaviours))));
  constexpr std::int64_t kElements = 64;
  Application application(*device, kElements);
  kernel.expect_launches({kElements}, 1e9);
  REQUIRE(application.launch(kernel, kElements).ok());
  CHECK(application.output() == 3.0f);
  const auto start = std::chrono::steady_clock::now();
  auto explanation = kernel.explain({kElements});
  std::chrono::nanoseconds needs{0};
  while (std::chrono::steady_clock::now() - start < kPatience) {
    needs = agent.tune_now(500ms + needs).needs;
    REQUIRE(application.launch(kernel, kElements).ok());
    explanation = kernel.explain({kElements});
    REQUIRE(explanation.ok());
    if (explanation->running_text.find("RUN_US=100") != std::string::npos) break;
    if (!agent.status().tuning_enabled) break;
  }
  CHECK_MESSAGE(explanation->running_text == "BEHAVIOUR=0 RUN_US=100", agent.explain());
  CHECK(explanation->speed_up == doctest::Approx(5).epsilon(0.05));
  REQUIRE(application.launch(kernel, kElements).ok());
  CHECK(application.output() == 3.0f);
  CHECK(device->usable().ok());
}

TEST_CASE("the helper opens the CUDA libraries that the application opened, and no others") {
  CudaStub stub;
  TemporaryFolder folder;
  auto device = open_stub(stub);
  expect_a_step(*device, packed(scale_description({CUDA_STUB_RIGHT})), folder.path());
  CHECK(files_in(folder.path() + "/programs") > 0);
}

TEST_CASE("the helper keeps programs where the application's device does, within its limit") {
  CudaStub stub;
  TemporaryFolder folder;
  const std::string cache = folder.path() + "/cache";
  cuda::OpenOptions options = stub.options();
  options.cache_folder = cache;
  const auto tune = [&] {
    auto device = required(cuda::open(0, options));
    expect_a_step(*device, packed(scale_description({CUDA_STUB_RIGHT})), folder.path());
  };
  SUBCASE("with room") {
    tune();
    CHECK(files_in(cache) > 0);
  }
  SUBCASE("without") {
    options.cache_limit_bytes = 1;
    tune();
    CHECK(files_in(cache) == 0);
  }
  CHECK(files_in(folder.path() + "/programs") == 0);
}

TEST_CASE("in the application's process a sticky error ends tuning, and the agent reports it") {
  CudaStub stub;
  auto device = open_stub(stub);
  AgentOptions options;
  options.in_process = trials_in_process();
  options.read_environment = false;
  auto agent = required(Agent::open(options));
  KernelDescription description = scale_description({CUDA_STUB_RIGHT, CUDA_STUB_ILLEGAL_ADDRESS});
  description.constraints = {DescribedExpression("BEHAVIOUR == 1 || RUN_US == 500")};
  auto kernel = required(agent.kernel(*device, packed(description)));
  constexpr std::int64_t kElements = 64;
  Application application(*device, kElements);
  kernel.expect_launches({kElements}, 1e9);
  REQUIRE(application.launch(kernel, kElements).ok());
  const auto start = std::chrono::steady_clock::now();
  std::chrono::nanoseconds needs{0};
  while (agent.status().tuning_enabled && std::chrono::steady_clock::now() - start < kPatience) {
    needs = agent.tune_now(500ms + needs).needs;
  }
  CHECK(!agent.status().tuning_enabled);
  CHECK(agent.status().lost_devices == 1);
  auto explanation = required(kernel.explain({kElements}));
  CHECK_MESSAGE(explanation.reason.find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos,
                explanation.reason);
  const Status refused = application.launch(kernel, kElements);
  CHECK(refused.code() == StatusCode::device_error);
  CHECK(refused.message().find("is lost to this process") != std::string::npos);
}

TEST_CASE("a kernel in the other back end's language is refused by name; portable ones are not") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto agent = required(Agent::open(AgentOptions()));
  KernelDescription description = scale_description({CUDA_STUB_RIGHT});
  description.dialect = Dialect::opencl;
  auto refused = agent.kernel(*device, packed(description));
  REQUIRE(refused.code() == StatusCode::unsupported);
  CHECK(refused.status().message() ==
        "kernel 'scale' has the dialect 'opencl', which cuda device 'Stub GPU' cannot compile; "
        "expected 'portable' or 'cuda'");
  auto executor_refuses = TrialExecutor(*device, package_of(description))
                              .run(request(TrialStage::compile, CUDA_STUB_RIGHT));
  CHECK(executor_refuses.status == TrialStatus::constraints);
  description.dialect = Dialect::portable;
  CHECK(agent.kernel(*device, packed(description)).ok());
  DeviceInfo opencl_device;
  opencl_device.backend = "opencl";
  opencl_device.name = "GPU";
  description.dialect = Dialect::cuda;
  const Status cuda_only = trial::admit_dialect(opencl_device, *package_of(description));
  CHECK(cuda_only.message() ==
        "kernel 'scale' has the dialect 'cuda', which opencl device 'GPU' cannot compile; "
        "expected 'portable' or 'opencl'");
  DeviceInfo replayed;
  replayed.backend = "replay";
  CHECK(trial::admit_dialect(replayed, *package_of(description)).ok());
}

TEST_CASE("C programs open and adopt CUDA devices") {
  CudaStub stub;
  const StubEnvironment environment(stub);
  idletune_device* device = nullptr;
  REQUIRE(idletune_cuda_open(0, &device) == IDLETUNE_OK);
  void* context = nullptr;
  void* stream = nullptr;
  idletune_cuda_handles(device, &context, &stream);
  CHECK(context != nullptr);
  CHECK(stream != nullptr);
  idletune_device* adopted = nullptr;
  CHECK(idletune_cuda_adopt(context, stream, &adopted) == IDLETUNE_OK);
  idletune_device_close(adopted);
  idletune_device_close(device);
  CHECK(idletune_cuda_open(7, &device) == IDLETUNE_NOT_FOUND);
  CHECK(idletune_cuda_open(0, nullptr) == IDLETUNE_INVALID_ARGUMENT);
}
