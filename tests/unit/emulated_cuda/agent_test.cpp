// The agent on the emulated device: an application's context and stream, its launches, tuning in the
// helper program, and a kernel whose configurations end contexts.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <idletune/in_process.hpp>

#include "tests/unit/emulated_cuda/adopted_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace emulated_cuda;
using idletune::test::TemporaryFolder;

namespace {

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
    auto agent = required(Agent::open(options_with(folder.path() + "/state")));
    auto kernel = required(agent.kernel(*application.device, package));
    kernel.expect_launches({kRows, kColumns}, 1e12);
    launch_transposition(application, kernel);
    auto known = required(kernel.explain({kRows, kColumns}));
    CHECK(known.evaluated == evaluated);
    const Explanation explanation = tune(
        agent, kernel, {kRows, kColumns},
        [&](const Explanation& now) { return now.evaluated >= enough; },
        [&] { launch_transposition(application, kernel); });
    CHECK_MESSAGE(explanation.evaluated >= enough, agent.explain());
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
  auto description =
      required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/tests/campaigns/gpu/faults.xml"));
  description.constraints = {DescribedExpression("BEHAVIOUR < 3")};  // the others never end
  auto agent = required(Agent::open(options_with(folder.path() + "/state")));
  auto kernel = required(agent.kernel(*application.device, *pack(description)));
  constexpr std::int64_t kElements = 300;
  const auto in = application.upload(std::vector<float>(kElements, 1.5f));
  const auto out = application.upload(std::vector<float>(kElements, 0.0f));
  kernel.expect_launches({kElements}, 1e12);
  const auto all_rejected = [](const Explanation& now) { return now.rejected >= 6; };
  const Explanation explanation = tune(agent, kernel, {kElements}, all_rejected, [&] {
    REQUIRE(kernel.launch({kElements}, {out->argument(), in->argument(), Argument(3.0f)}).ok());
    CHECK(application.download(*out, kElements) == std::vector<float>(kElements, 4.5f));
  });
  CHECK_MESSAGE(explanation.running_text.find("BEHAVIOUR=0") == 0, explanation.running_text);
  CHECK_MESSAGE(explanation.rejected == 6, agent.explain());
  CHECK(application.device->usable().ok());
  CHECK(emulated.found() == "");
  if (idletune::test::asks_for_gpu()) return;
  CHECK(environment.found().find("illegal address: writes 4 bytes where nothing is allocated: "
                                 "scale, ") != std::string::npos);
}

TEST_CASE("in the application's process an illegal address ends tuning, and the agent says why" *
          doctest::test_suite("agent")) {
  const EmulatedDriver emulated;
  if (!has_compiler(emulated)) return;
  AdoptedContext application(emulated);
  auto description =
      required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/tests/campaigns/gpu/faults.xml"));
  description.constraints = {DescribedExpression("BEHAVIOUR < 2")};
  AgentOptions options;
  options.in_process = trials_in_process();
  options.read_environment = false;
  auto agent = required(Agent::open(options));
  auto kernel = required(agent.kernel(*application.device, *pack(description)));
  constexpr std::int64_t kElements = 300;
  const auto in = application.upload(std::vector<float>(kElements, 1.5f));
  const auto out = application.upload(std::vector<float>(kElements, 0.0f));
  kernel.expect_launches({kElements}, 1e12);
  const auto never = [](const Explanation&) { return false; };
  const Explanation explanation = tune(agent, kernel, {kElements}, never, [&] {
    (void)kernel.launch({kElements}, {out->argument(), in->argument(), Argument(3.0f)});
  });
  CHECK(!agent.status().tuning_enabled);
  CHECK(agent.status().lost_devices == 1);
  CHECK_MESSAGE(explanation.reason.find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos,
                explanation.reason);
  if (!idletune::test::asks_for_gpu()) CHECK(emulated.found().find("illegal address: ") == 0);
}
