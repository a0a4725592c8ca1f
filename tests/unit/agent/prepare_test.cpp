// What prepare() does before the application's first launch, on a played board.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace idletune;
using idletune::test::agent_on;
using idletune::test::board_that;
using idletune::test::played_package;
using idletune::test::TemporaryFolder;
using namespace std::chrono_literals;

namespace {

const Shape kShape{64};

struct Run {
  Configuration configuration;
  std::size_t global = 0;
  bool operator==(const Run& other) const {
    return configuration == other.configuration && global == other.global;
  }
};

// An application with one kernel, and the runs that the tuner made on the application's device.
struct Application {
  explicit Application(const AgentOptions& options) : board(board_that()) {
    board->device.kernels["play"] = [this](const fake::Launch& launch) {
      runs.push_back({{launch.parameter("A"), launch.parameter("B")}, launch.range.global[0]});
      return Status();
    };
    agent.emplace(agent_on(*board, options));
    auto loaded = agent->kernel(board->device, played_package());
    REQUIRE_MESSAGE(loaded.ok(), loaded.status().to_string());
    kernel.emplace(*loaded);
  }
  void prepare() { REQUIRE(kernel->prepare(kShape).ok()); }
  bool ran(const Configuration& configuration, std::size_t global) const {
    return std::find(runs.begin(), runs.end(), Run{configuration, global}) != runs.end();
  }

  std::unique_ptr<test::PlayedBoard> board;
  std::vector<Run> runs;
  std::optional<Agent> agent;
  std::optional<TunedKernel> kernel;
};

}  // namespace

TEST_CASE("a prepared default has been launched on the shape, and once only") {
  Application application({});
  application.prepare();
  CHECK(application.ran({1, 1}, 64));
  const std::size_t runs = application.runs.size();
  application.prepare();
  CHECK(application.runs.size() == runs);
}

TEST_CASE("after a restart what was adopted has been launched on the shape when prepare returns") {
  const TemporaryFolder folder;
  AgentOptions options;
  options.state = folder.file("state");
  {
    Application first(options);
    first.prepare();
    first.agent->tune_now(10h);
  }
  Application second(options);
  second.prepare();
  const Configuration running = second.kernel->explain(kShape)->running;
  REQUIRE(running != Configuration{1, 1});
  CHECK(second.ran(running, 64));
}

TEST_CASE("what no trial has run here is not launched ahead either") {
  AgentOptions options;
  options.mode = Mode::cached;
  Application application(options);
  application.prepare();
  CHECK(application.runs.empty());
}

TEST_CASE("a shape that takes more than the scratch limit is not launched ahead") {
  AgentOptions options;
  options.scratch_limit_bytes = 63 * sizeof(float);
  Application application(options);
  application.prepare();
  CHECK_FALSE(application.ran({1, 1}, 64));
}
