// What kernel() and prepare() do before the application's first launch, on a played board.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
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

const Shape kPreparedShape{64};

struct Run {
  Configuration configuration;
  std::size_t global = 0;
  bool operator==(const Run& other) const {
    return configuration == other.configuration && global == other.global;
  }
};

// An application with one kernel, and the runs that the tuner made on the application's device.
struct PreparedApplication {
  explicit PreparedApplication(const AgentOptions& options,
                               std::vector<std::uint8_t> package = played_package(),
                               Nanoseconds run = 1us)
      : board(board_that()) {
    board->device.kernels["play"] = [this, run](const fake::Launch& launch) {
      board->clock.advance(run);
      runs.push_back({{launch.parameter("A"), launch.parameter("B")}, launch.range.global[0]});
      return Status();
    };
    agent.emplace(agent_on(*board, options));
    auto loaded = agent->kernel(board->device, std::move(package));
    REQUIRE_MESSAGE(loaded.ok(), loaded.status().to_string());
    kernel.emplace(*loaded);
  }
  void prepare() { REQUIRE(kernel->prepare(kPreparedShape).ok()); }
  std::size_t stages() const { return board->requested.size(); }
  bool ran(const Configuration& configuration, std::size_t global) const {
    return std::find(runs.begin(), runs.end(), Run{configuration, global}) != runs.end();
  }

  std::unique_ptr<test::PlayedBoard> board;
  std::vector<Run> runs;
  std::optional<Agent> agent;
  std::optional<TunedKernel> kernel;
};

// An earlier life of the application.
void adopt_something(const AgentOptions& options) {
  PreparedApplication first(options);
  first.prepare();
  first.agent->tune_now(10h);
}

}  // namespace

TEST_CASE("a prepared default has been launched on the shape, and once only") {
  PreparedApplication application({});
  application.prepare();
  CHECK(application.ran({1, 1}, 64));
  const std::size_t runs = application.runs.size();
  application.prepare();
  CHECK(application.runs.size() == runs);
}

TEST_CASE("a shape beyond max_shapes cannot be prepared, and is launched all the same") {
  AgentOptions options;
  options.max_shapes = 1;
  PreparedApplication application(options);
  application.prepare();
  CHECK(application.kernel->prepare({32}).to_string() ==
        "out_of_memory: kernel 'play': more shapes than the option max_shapes allows");
  CHECK(application.kernel->prepare({0}).code() == StatusCode::invalid_argument);
  const std::unique_ptr<Buffer> x = *application.board->device.allocate(32 * sizeof(float));
  CHECK(application.kernel->launch({32}, x->argument()).ok());
}

TEST_CASE("after a restart what was adopted has been launched on the shape when prepare returns") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.file("state"));
  adopt_something(options);
  PreparedApplication second(options);
  second.prepare();
  const Configuration running = second.kernel->explain(kPreparedShape)->running;
  REQUIRE(running != Configuration{1, 1});
  CHECK(second.ran(running, 64));
}

TEST_CASE("what no trial has run here is not launched on a shape of the application's either") {
  AgentOptions options;
  options.mode = Mode::cached;
  PreparedApplication application(options);
  application.prepare();
  CHECK_FALSE(application.ran({1, 1}, 64));
}

TEST_CASE("a loaded kernel's default has been launched once on a small shape, in every mode") {
  for (const Mode mode : {Mode::off, Mode::cached, Mode::tune}) {
    CAPTURE(static_cast<int>(mode));
    AgentOptions options;
    options.mode = mode;
    const PreparedApplication application(options);
    CHECK(application.runs == std::vector<Run>{{{1, 1}, 1}});
  }
}

TEST_CASE(
    "a kernel that may compute addresses from its data runs on none that no trial has tried") {
  for (const Mode mode : {Mode::off, Mode::cached, Mode::tune}) {
    AgentOptions options;
    options.mode = mode;
    const PreparedApplication application(options, played_package(ScalarType::i32));
    CHECK(application.runs.empty());
  }
}

TEST_CASE("after a restart what was adopted has been launched on the shape when kernel returns") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.file("state"));
  adopt_something(options);
  for (const Mode mode : {Mode::cached, Mode::tune}) {
    options.mode = mode;
    PreparedApplication second(options);
    const std::size_t runs = second.runs.size();
    const Configuration running = second.kernel->explain(kPreparedShape)->running;
    REQUIRE(running != Configuration{1, 1});
    CHECK(second.ran(running, 64));
    second.prepare();
    CHECK(second.runs.size() == runs);
  }
}

TEST_CASE(
    "after a restart a default that was measured is launched by kernel and not measured anew") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.file("state"));
  double measured_ms = 0;
  {
    PreparedApplication first(options, played_package(ScalarType::i32));
    first.prepare();
    measured_ms = first.kernel->explain(kPreparedShape)->default_ms;
    REQUIRE(measured_ms > 0);
  }
  for (const Mode mode : {Mode::cached, Mode::tune}) {
    CAPTURE(static_cast<int>(mode));
    options.mode = mode;
    PreparedApplication second(options, played_package(ScalarType::i32));
    CHECK(second.runs == std::vector<Run>{{{1, 1}, 64}});
    second.prepare();
    CHECK(second.stages() == 0);
    const Explanation why = *second.kernel->explain(kPreparedShape);
    CHECK(why.default_ms == measured_ms);
    CHECK(why.running_ms == measured_ms);
  }
}

TEST_CASE("the launches of a kernel's start end after a quarter of a second") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.file("state"));
  {
    PreparedApplication first(options);
    for (std::int64_t n = 1; n <= 8; ++n) REQUIRE(first.kernel->prepare({64 * n}).ok());
  }
  CHECK(PreparedApplication(options).runs.size() == 8);
  CHECK(PreparedApplication(options, played_package(), 100ms).runs.size() == 3);
}

TEST_CASE("a shape that takes more than the scratch limit is not launched ahead") {
  AgentOptions options;
  options.scratch_limit_bytes = 63 * sizeof(float);
  PreparedApplication application(options);
  application.prepare();
  CHECK_FALSE(application.ran({1, 1}, 64));
}
