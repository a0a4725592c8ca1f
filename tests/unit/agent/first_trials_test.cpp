// What is tried first on a device of whose kind nothing is known.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/predict/model_builder.hpp"

using namespace idletune;
using namespace std::chrono_literals;

namespace {

// The played kernel with work groups of 4 A items.
std::vector<std::uint8_t> grouped_package() {
  KernelDescription description = test::played_description();
  description.launch.global = {"ceil_div(N, 4 * A) * 4 * A"};
  description.launch.local = {"4 * A"};
  description.arguments = {test::made_buffer("x", "N", Access::inout)};
  return test::packed(description);
}

// Learned on a processor, where groups of four items are best.
void write_processors_model(const std::string& path) {
  test::ModelContent content;
  content.kernel = "play";
  content.parameters = {"A", "B"};
  content.sources[0].device = "pthread-AMD EPYC 7B13";
  content.sources[0].shape = {64};
  for (std::int64_t b = 2; b <= 16; ++b) {
    content.portfolio_values.insert(content.portfolio_values.end(), {1, b});
    content.portfolio_relative.push_back(1.0f - 0.01f * static_cast<float>(b));
    content.portfolio_score.push_back(1.0f - 0.01f * static_cast<float>(b));
  }
  content.picks = {{-1, {}, {1, 2}, 0.95f}};
  REQUIRE(test::write_model(content, path));
}

// The values of A of the first configurations that a board of that name tries.
std::vector<std::int64_t> first_tried(const char* device, bool is_cpu, std::string& quality) {
  const test::TemporaryFolder folder;
  write_processors_model(folder.path() + "/processors.itmodel");
  const auto board = test::board_that();
  board->device.device_info.name = device;
  board->device.device_info.is_cpu = is_cpu;
  AgentOptions options;
  options.read_environment = false;
  options.model = folder.path() + "/processors.itmodel";
  options.state = folder.path();
  Agent agent = test::agent_on(*board, options);
  auto kernel = agent.kernel(board->device, grouped_package());
  REQUIRE_MESSAGE(kernel.ok(), kernel.status().to_string());
  const auto x = board->device.allocate(64 * sizeof(float));
  REQUIRE(kernel->launch(Shape{64}, {(*x)->argument()}).ok());
  quality = kernel->explain(Shape{64})->first_pick_quality;
  kernel->expect_launches(Shape{64}, 1e9);
  (void)agent.tune_now(10s);
  std::vector<std::int64_t> tried;
  std::vector<Configuration> seen{Configuration{1, 1}};  // the default is timed first
  for (const TrialRequest& request : board->requested) {
    if (request.configuration.size() != 2) continue;
    if (std::find(seen.begin(), seen.end(), request.configuration) != seen.end()) continue;
    seen.push_back(request.configuration);
    tried.push_back(request.configuration[0]);
  }
  return tried;
}

}  // namespace

TEST_CASE("a GPU's first trials fill its warps where only processors are known") {
  std::string quality;
  const std::vector<std::int64_t> tried = first_tried("Mali-G610 r0p0", false, quality);
  CHECK(quality == "structure");
  REQUIRE(tried.size() > 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(4 * tried[i] >= 32);
}

TEST_CASE("a processor's first trials are what processors like") {
  std::string quality;
  const std::vector<std::int64_t> tried = first_tried("pthread-AMD EPYC 9004", true, quality);
  CHECK(quality == "other_device");
  REQUIRE(tried.size() > 1);
  CHECK(tried[0] == 1);
}
