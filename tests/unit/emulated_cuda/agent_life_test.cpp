// What an agent lives through on the emulated device: graphs, several contexts and devices, races in
// the application's launches, kernels without end, packages without a compiler.
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include <idletune/in_process.hpp>

#include "models/package/kernel_package.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/emulated_cuda/adopted_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace emulated_cuda;
using idletune::test::TemporaryFolder;

namespace {

constexpr std::int64_t kElements = 300;

// out = 3 * in by a kernel whose parameter BEHAVIOUR says what is wrong with it.
struct Scaled {
  explicit Scaled(AdoptedContext& of)
      : application(of),
        in(of.upload(std::vector<float>(kElements, 1.5f))),
        out(of.upload(std::vector<float>(kElements, 0.0f))) {}
  Status launch(TunedKernel& kernel) {
    return kernel.launch({kElements}, {out->argument(), in->argument(), Argument(3.0f)});
  }
  bool is(float value) {
    return application.download(*out, kElements) == std::vector<float>(kElements, value);
  }
  void launch_and_check(TunedKernel& kernel) {
    const Status launched = launch(kernel);
    REQUIRE_MESSAGE(launched.ok(), launched.to_string());
    CHECK(is(4.5f));
  }
  AdoptedContext& application;
  std::unique_ptr<Buffer> in, out;
};

KernelDescription scaling_description(const std::string& constraint) {
  auto description =
      required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/tests/campaigns/gpu/faults.xml"));
  description.constraints = {DescribedExpression(constraint)};
  return description;
}

std::vector<std::uint8_t> scaling(const std::string& constraint) {
  return *pack(scaling_description(constraint));
}

Agent open_agent(const AgentOptions& options) { return required(Agent::open(options)); }

Agent open_in_process() {
  AgentOptions options;
  options.in_process = trials_in_process();
  options.read_environment = false;
  options.run_deadline = 20s;
  return open_agent(options);
}

TunedKernel load(Agent& agent, Device& device, std::vector<std::uint8_t> package) {
  auto kernel = required(agent.kernel(device, std::move(package)));
  kernel.expect_launches({kElements}, 1e12);
  return kernel;
}

}  // namespace

TEST_CASE("a graph that was captured while others are tuned is replayed, whatever runs by then" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  AdoptedContext application(emulated);
  void* graph = nullptr;
  void* executable = nullptr;
  const auto begin = emulated.function<cuda::Error(cuda::StreamHandle, cuda::CaptureMode)>(
      "cuStreamBeginCapture_v2");
  const auto end = emulated.function<cuda::Error(cuda::StreamHandle, void**)>("cuStreamEndCapture");
  const auto make = emulated.function<cuda::Error(void**, void*, unsigned long long)>(
      "cuGraphInstantiateWithFlags");
  const auto replay = emulated.function<cuda::Error(void*, cuda::StreamHandle)>("cuGraphLaunch");
  {
    Scaled work(application);
    Agent agent = open_in_process();
    TunedKernel kernel = load(agent, *application.device, scaling("BEHAVIOUR == 0"));
    REQUIRE(begin(application.stream, cuda::CaptureMode::global) == cuda::kSuccess);
    CHECK(application.device->capturing(nullptr));
    // Allocations, modules and waiting on another thread would break this capture.
    std::uint32_t stages = 0;
    std::thread tuner([&] {
      for (int i = 0; i < 20 && stages < 6; ++i) stages += agent.tune_now(500ms).stages;
    });
    for (int i = 0; i < 50; ++i) REQUIRE(work.launch(kernel).ok());
    tuner.join();
    CHECK(stages >= 4);
    REQUIRE(work.launch(kernel).ok());
    REQUIRE(end(application.stream, &graph) == cuda::kSuccess);
    REQUIRE(make(&executable, graph, 0) == cuda::kSuccess);
    CHECK(work.is(0.0f));  // nothing has run
    tune(
        agent, kernel, {kElements}, [](const Explanation& now) { return now.evaluated >= 2; },
        [&] { work.launch_and_check(kernel); });
    for (const float factor : {2.0f, 4.0f}) {
      const std::vector<float> values(kElements, factor);
      REQUIRE(application.device->write(*work.in, 0, idletune::test::bytes_of(values)).ok());
      REQUIRE(replay(executable, application.stream) == cuda::kSuccess);
      CHECK(work.is(3 * factor));
    }
  }
  CHECK(emulated.found() == "");
}

TEST_CASE("data are lent while a graph is captured, but not from a stream that is captured" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  AdoptedContext application(emulated);
  const auto begin = emulated.function<cuda::Error(cuda::StreamHandle, cuda::CaptureMode)>(
      "cuStreamBeginCapture_v2");
  const auto end = emulated.function<cuda::Error(cuda::StreamHandle, void**)>("cuStreamEndCapture");
  Scaled work(application);
  const TemporaryFolder folder;
  Agent agent = open_agent(options_with(folder.path()));
  auto description = scaling_description("BEHAVIOUR == 0");
  for (DescribedArgument& argument : description.arguments) {
    argument.captured = argument.name == "in";
  }
  TunedKernel kernel = load(agent, *application.device, required(pack(description)));
  const auto lend = [&] {
    return kernel.capture({kElements}, work.out->argument(), work.in->argument(), 3.0f);
  };
  cuda::StreamHandle other = nullptr;
  REQUIRE(application.driver->StreamCreate(&other, cuda::kStreamNonBlocking) == cuda::kSuccess);
  void* graph = nullptr;
  REQUIRE(begin(other, cuda::CaptureMode::global) == cuda::kSuccess);
  Status lent;
  std::thread([&] { lent = lend(); }).join();
  CHECK_MESSAGE(lent.ok(), lent.to_string());
  CHECK(end(other, &graph) == cuda::kSuccess);
  REQUIRE(begin(application.stream, cuda::CaptureMode::relaxed) == cuda::kSuccess);
  CHECK(lend().code() == StatusCode::busy);
  CHECK(end(application.stream, &graph) == cuda::kSuccess);
  CHECK(lend().ok());
}

TEST_CASE("an illegal address in one of two contexts ends both: tuning ends, launches say why" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  AdoptedContext first(emulated);
  AdoptedContext second(emulated, 0, /*own=*/true);
  CHECK(first.context != second.context);
  Scaled right(first), wrong(second);
  Agent agent = open_in_process();
  TunedKernel good = load(agent, *first.device, scaling("BEHAVIOUR == 0"));
  TunedKernel bad = load(agent, *second.device, scaling("BEHAVIOUR < 2"));
  right.launch_and_check(good);
  wrong.launch_and_check(bad);
  tune(
      agent, bad, {kElements}, [&](const Explanation&) { return agent.status().lost_devices > 0; },
      [&] {
        if (agent.status().lost_devices == 0) right.launch_and_check(good);
      });
  CHECK(agent.status().lost_devices == 1);
  CHECK(!agent.status().tuning_enabled);
  for (const Status& refused : {wrong.launch(bad), right.launch(good)}) {
    CHECK(refused.code() == StatusCode::device_error);
    CHECK_MESSAGE(refused.message().find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos,
                  refused.message());
  }
}

TEST_CASE("two devices of different kind are tuned by one agent, each for itself" *
          doctest::test_suite("agent")) {
  if (idletune::test::asks_for_gpu())
    return idletune::test::skip("this machine has one kind of GPU");
  const EmulatedDriver emulated("jetson_nano,orin_nano");
  if (!has_compiler(emulated)) return;
  TemporaryFolder folder;
  const HelperEnvironment environment(folder.path() + "/findings.txt");
  AdoptedContext boards[2] = {AdoptedContext(emulated, 0), AdoptedContext(emulated, 1)};
  Agent agent = open_agent(options_with(folder.path() + "/state"));
  double default_ms[2] = {};
  for (int i = 0; i < 2; ++i) {
    AdoptedContext& board = boards[i];
    Scaled work(board);
    TunedKernel kernel = load(agent, *board.device, scaling("BEHAVIOUR == 0"));
    work.launch_and_check(kernel);
    CHECK(kernel.explain({kElements})->evaluated == 0);
    const auto explanation = tune(
        agent, kernel, {kElements}, [](const Explanation& now) { return now.evaluated >= 2; },
        [&] { work.launch_and_check(kernel); });
    CHECK_MESSAGE(explanation.evaluated >= 2, agent.explain());
    CHECK(explanation.rejected == 0);
    default_ms[i] = explanation.default_ms;
  }
  CHECK(default_ms[0] != default_ms[1]);
  CHECK(emulated.found() == "");
  CHECK(environment.found() == "");
}

TEST_CASE("candidates race in the application's launches, none of which is wrong" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  TemporaryFolder folder;
  const HelperEnvironment environment(folder.path() + "/findings.txt");
  AdoptedContext application(emulated);
  Scaled work(application);
  auto description =
      required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/tests/campaigns/gpu/faults.xml"));
  description.constraints = {DescribedExpression("BEHAVIOUR == 0 || BEHAVIOUR == 2")};
  // Where others keep the processors busy, a trial may have decided before launches could.
  bool raced = false;
  for (int attempt = 0; attempt < 5 && !raced; ++attempt) {
    AgentOptions options = options_with(folder.path() + "/state" + std::to_string(attempt));
    options.sysfs_root = folder.path();  // no sensors
    options.idle_cost = options.compile_cost = 0;
    options.overhead_limit = 1;
    Agent agent = open_agent(options);
    TunedKernel kernel = load(agent, *application.device, *pack(description));
    InPlaceOptions in_place;
    in_place.allowed = true;
    in_place.max_slowdown = 1;
    kernel.allow_in_place(in_place);
    work.launch_and_check(kernel);
    const auto start = std::chrono::steady_clock::now();
    Explanation explanation;
    do {
      agent.idle(500ms);
      for (int i = 0; i < 10; ++i) work.launch_and_check(kernel);
      std::this_thread::sleep_for(2ms);  // the helper gets only what nobody else wants
      explanation = *kernel.explain({kElements});
      raced = raced || explanation.blocker == Blocker::in_place;
    } while ((explanation.verdict != Verdict::stop || explanation.blocker == Blocker::in_place) &&
             std::chrono::steady_clock::now() - start < kPatience);
    CHECK_MESSAGE(explanation.rejected > 0, agent.explain());  // wrong ones never come to race
  }
  CHECK(raced);
  CHECK(emulated.found() == "");
  CHECK(environment.found() == "");
}

TEST_CASE("a kernel without end is quarantined at its deadline, also after a restart" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  TemporaryFolder folder;
  const HelperEnvironment environment(folder.path() + "/findings.txt");
  AdoptedContext application(emulated);
  Scaled work(application);
  const auto package = scaling("BEHAVIOUR == 0 || (BEHAVIOUR == 3 && BLOCK == 64)");
  AgentOptions options = options_with(folder.path() + "/state");
  options.run_deadline = 300ms;  // and many times that, where code may still be made
  for (const bool restarted : {false, true}) {
    Agent agent = open_agent(options);
    TunedKernel kernel = load(agent, *application.device, package);
    work.launch_and_check(kernel);
    CHECK(kernel.explain({kElements})->quarantined == (restarted ? 1 : 0));
    const auto explanation = tune(
        agent, kernel, {kElements},
        [&](const Explanation& now) { return now.quarantined > 0 && now.evaluated >= 2; },
        [&] { work.launch_and_check(kernel); });
    CHECK_MESSAGE(explanation.quarantined == 1, agent.explain());
    CHECK_MESSAGE(explanation.running_text.find("BEHAVIOUR=0") == 0, explanation.running_text);
    CHECK(agent.status().quarantined == 1);
  }
  CHECK(application.device->usable().ok());
  CHECK(environment.found() == "");
}

TEST_CASE("a package with PTX made ahead runs where there is no compiler, and nothing else does" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  auto bytes = scaling("BEHAVIOUR == 0");
  auto package = required(KernelPackage::open(bytes, "prebuilt"));
  const Configuration chosen[] = {package->default_configuration(), {0, 256}};
  std::vector<std::vector<std::uint8_t>> images;
  std::vector<BinaryOfConfiguration> binaries;
  for (const Configuration& configuration : chosen) {
    const std::string text = package->compile_options(configuration);
    images.push_back(required(cuda::compile_ahead({package->source(), package->entry(), text, 1},
                                                  87, BinaryFormat::ptx, emulated.options())));
    binaries.push_back(
        {configuration, {BinaryFormat::ptx, {images.back().data(), images.back().size()}, 87}});
  }
  auto with_images = required(with_prebuilt(bytes, binaries));
  TemporaryFolder folder;
  const HelperEnvironment environment(folder.path() + "/findings.txt");
  ::setenv("IDLETUNE_NVRTC_LIBRARY", "none", 1);
  AdoptedContext application(emulated, 0, false, "none");
  CHECK(!application.device->info().has_compiler);
  Scaled work(application);
  Agent agent = open_agent(options_with(folder.path() + "/state"));
  CHECK(agent.kernel(*application.device, bytes).code() == StatusCode::unsupported);
  TunedKernel kernel = load(agent, *application.device, with_images);
  work.launch_and_check(kernel);
  const auto explanation = tune(
      agent, kernel, {kElements},
      [](const Explanation& now) { return now.verdict == Verdict::stop; },
      [&] { work.launch_and_check(kernel); });
  CHECK_MESSAGE(explanation.evaluated == 1, agent.explain());  // besides the default
  CHECK(emulated.found() == "");
  CHECK(environment.found() == "");
}
