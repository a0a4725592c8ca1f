// The agent on the emulated device: an application's context and stream, its launches, tuning in the
// helper program, and a kernel whose configurations end contexts.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/in_process.hpp>

#include "models/package/pack.hpp"
#include "models/package/xml.hpp"
#include "platform/cuda/driver.hpp"
#include "tests/unit/emulated_cuda/emulated_driver.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;
using namespace std::chrono_literals;
using emulated_cuda::EmulatedDriver;
using idletune::test::TemporaryFolder;

namespace {

constexpr auto kPatience = 5min;

// The helper opens the same library, and its findings go to a file.
struct HelperEnvironment {
  explicit HelperEnvironment(const std::string& findings_file) : findings(findings_file) {
    ::setenv("IDLETUNE_CUDA_LIBRARY", IDLETUNE_EMULATED_CUDA, 1);
    ::setenv("IDLETUNE_NVRTC_LIBRARY", IDLETUNE_EMULATED_CUDA, 1);
    ::setenv("IDLETUNE_EMULATED_FINDINGS", findings.c_str(), 1);
  }
  ~HelperEnvironment() {
    ::unsetenv("IDLETUNE_CUDA_LIBRARY");
    ::unsetenv("IDLETUNE_NVRTC_LIBRARY");
    ::setenv("IDLETUNE_EMULATED_FINDINGS", "/dev/null", 1);
  }
  std::string found() const {
    std::ifstream file(findings);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  const std::string findings;
};

std::vector<std::uint8_t> packed(const std::string& xml) {
  auto description = read_kernel_xml(xml);
  REQUIRE_MESSAGE(description.ok(), description.status().to_string());
  auto bytes = pack(*description);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
  return std::move(*bytes);
}

// A context and a stream of the application's, adopted.
struct AdoptedContext {
  explicit AdoptedContext(const EmulatedDriver& emulated) {
    driver = *cuda::load_driver(IDLETUNE_EMULATED_CUDA);
    REQUIRE(driver->DevicePrimaryCtxRetain(&context, 0) == cuda::kSuccess);
    REQUIRE(driver->CtxPushCurrent(context) == cuda::kSuccess);
    REQUIRE(driver->StreamCreate(&stream, cuda::kStreamNonBlocking) == cuda::kSuccess);
    auto adopted = cuda::adopt(context, stream, emulated.options());
    REQUIRE_MESSAGE(adopted.ok(), adopted.status().to_string());
    device = std::move(*adopted);
  }
  ~AdoptedContext() {
    cuda::ContextHandle popped = nullptr;
    driver->CtxPopCurrent(&popped);
  }
  std::unique_ptr<Buffer> upload(const std::vector<float>& values) {
    auto buffer = device->allocate(values.size() * sizeof(float));
    REQUIRE_MESSAGE(buffer.ok(), buffer.status().to_string());
    REQUIRE(device
                ->write(**buffer, 0,
                        {reinterpret_cast<const std::uint8_t*>(values.data()),
                         values.size() * sizeof(float)})
                .ok());
    return std::move(*buffer);
  }
  std::vector<float> download(const Buffer& buffer, std::size_t size) {
    std::vector<float> values(size);
    const Argument from = buffer.argument();
    REQUIRE(
        device
            ->copy_out(from, {reinterpret_cast<std::uint8_t*>(values.data()), size * sizeof(float)})
            .ok());
    return values;
  }

  std::shared_ptr<const cuda::Driver> driver;
  cuda::ContextHandle context = nullptr;
  cuda::StreamHandle stream = nullptr;
  std::unique_ptr<Device> device;
};

AgentOptions options_with(const std::string& state) {
  AgentOptions options;
  options.state = state;
  options.seed = 1;
  options.run_deadline = 20s;  // the device is slow, and others use the processors
  const char* helper = std::getenv("IDLETUNE_HELPER");
  REQUIRE_MESSAGE(helper != nullptr, "IDLETUNE_HELPER: expected the path of idletune-helper");
  options.helper = helper;
  return options;
}

// Tunes until what is explained is `enough`, or tuning has ended; launches in between.
template <class Enough, class Launch>
Explanation tune(Agent& agent, TunedKernel& kernel, const Shape& shape, Enough enough,
                 Launch launch) {
  const auto start = std::chrono::steady_clock::now();
  std::chrono::nanoseconds needs{0};
  for (;;) {
    needs = agent.tune_now(500ms + needs).needs;
    launch();
    auto explanation = kernel.explain(shape);
    REQUIRE(explanation.ok());
    const bool is_late = std::chrono::steady_clock::now() - start > kPatience;
    if (is_late || enough(*explanation) || !agent.status().tuning_enabled) {
      return std::move(*explanation);
    }
  }
}

bool has_compiler(const EmulatedDriver& emulated) {
  auto devices = cuda::list(emulated.options());
  REQUIRE_MESSAGE(devices.ok(), devices.status().to_string());
  if (devices->front().has_compiler) return true;
  test::skip("no NVRTC");
  return false;
}

constexpr std::int64_t kRows = 61, kColumns = 83;

// Whether a launch transposes.
void launch_transposition(AdoptedContext& application, TunedKernel& kernel) {
  std::vector<float> in(kRows * kColumns);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  const auto from = application.upload(in);
  const auto to = application.upload(std::vector<float>(in.size(), -1.0f));
  const Status launched = kernel.launch({kRows, kColumns}, {from->argument(), to->argument()});
  REQUIRE_MESSAGE(launched.ok(), launched.to_string());
  const auto out = application.download(*to, in.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    wrong += out[i % kColumns * kRows + i / kColumns] == in[i] ? 0 : 1;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("the agent tunes in the helper on an adopted context, and knows it after a restart" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  TemporaryFolder folder;
  const HelperEnvironment environment(folder.path() + "/findings.txt");
  AdoptedContext application(emulated);
  const auto package = packed(IDLETUNE_SOURCE_FOLDER "/kernels/transpose/transpose.xml");
  std::uint64_t evaluated = 0;
  for (const std::uint64_t enough : {4, 6}) {
    auto agent = Agent::open(options_with(folder.path() + "/state"));
    REQUIRE_MESSAGE(agent.ok(), agent.status().to_string());
    auto kernel = agent->kernel(*application.device, package);
    REQUIRE_MESSAGE(kernel.ok(), kernel.status().to_string());
    kernel->expect_launches({kRows, kColumns}, 1e12);
    launch_transposition(application, *kernel);
    auto known = kernel->explain({kRows, kColumns});
    REQUIRE(known.ok());
    CHECK(known->evaluated == evaluated);
    const Explanation explanation = tune(
        *agent, *kernel, {kRows, kColumns},
        [&](const Explanation& now) { return now.evaluated >= enough; },
        [&] { launch_transposition(application, *kernel); });
    CHECK_MESSAGE(explanation.evaluated >= enough, agent->explain());
    CHECK(explanation.rejected == 0);
    CHECK(explanation.default_ms > 0);
    evaluated = explanation.evaluated;
  }
  CHECK(application.device->usable().ok());
  CHECK(emulated.found() == "");
  CHECK(environment.found() == "");
}

TEST_CASE("illegal addresses and wrong results cost the helper, not the application" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  TemporaryFolder folder;
  const HelperEnvironment environment(folder.path() + "/findings.txt");
  AdoptedContext application(emulated);
  auto description = read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/tests/campaigns/gpu/faults.xml");
  REQUIRE_MESSAGE(description.ok(), description.status().to_string());
  description->constraints = {DescribedExpression("BEHAVIOUR < 3")};  // the others never end
  auto agent = Agent::open(options_with(folder.path() + "/state"));
  REQUIRE_MESSAGE(agent.ok(), agent.status().to_string());
  auto kernel = agent->kernel(*application.device, *pack(*description));
  REQUIRE_MESSAGE(kernel.ok(), kernel.status().to_string());
  constexpr std::int64_t kElements = 300;
  const auto in = application.upload(std::vector<float>(kElements, 1.5f));
  const auto out = application.upload(std::vector<float>(kElements, 0.0f));
  kernel->expect_launches({kElements}, 1e12);
  const auto all_rejected = [](const Explanation& now) { return now.rejected >= 6; };
  const Explanation explanation = tune(*agent, *kernel, {kElements}, all_rejected, [&] {
    REQUIRE(kernel->launch({kElements}, {out->argument(), in->argument(), Argument(3.0f)}).ok());
    CHECK(application.download(*out, kElements) == std::vector<float>(kElements, 4.5f));
  });
  CHECK_MESSAGE(explanation.running_text.find("BEHAVIOUR=0") == 0, explanation.running_text);
  CHECK_MESSAGE(explanation.rejected == 6, agent->explain());
  CHECK(application.device->usable().ok());
  CHECK(emulated.found() == "");
  CHECK(environment.found().find("illegal address: writes 4 bytes where nothing is allocated: "
                                 "scale, ") != std::string::npos);
}

TEST_CASE("in the application's process an illegal address ends tuning, and the agent says why" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  AdoptedContext application(emulated);
  auto description = read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/tests/campaigns/gpu/faults.xml");
  REQUIRE_MESSAGE(description.ok(), description.status().to_string());
  description->constraints = {DescribedExpression("BEHAVIOUR < 2")};
  AgentOptions options;
  options.in_process = trials_in_process();
  options.read_environment = false;
  auto agent = Agent::open(options);
  REQUIRE_MESSAGE(agent.ok(), agent.status().to_string());
  auto kernel = agent->kernel(*application.device, *pack(*description));
  REQUIRE_MESSAGE(kernel.ok(), kernel.status().to_string());
  constexpr std::int64_t kElements = 300;
  const auto in = application.upload(std::vector<float>(kElements, 1.5f));
  const auto out = application.upload(std::vector<float>(kElements, 0.0f));
  kernel->expect_launches({kElements}, 1e12);
  const auto never = [](const Explanation&) { return false; };
  const Explanation explanation = tune(*agent, *kernel, {kElements}, never, [&] {
    (void)kernel->launch({kElements}, {out->argument(), in->argument(), Argument(3.0f)});
  });
  CHECK(!agent->status().tuning_enabled);
  CHECK(agent->status().lost_devices == 1);
  CHECK_MESSAGE(explanation.reason.find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos,
                explanation.reason);
  CHECK(emulated.found().find("illegal address: ") == 0);
}
