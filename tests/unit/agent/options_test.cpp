#include <idletune/agent.hpp>
#include <idletune/options.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/variable.hpp"

using namespace idletune;
using idletune::test::Variable;
using namespace std::chrono_literals;

TEST_CASE("environment variables override options") {
  const Variable mode("IDLETUNE_MODE", "cached");
  const Variable state("IDLETUNE_STATE", "/data/state");
  const Variable model("IDLETUNE_MODEL", "board.itmodel");
  const Variable verbose("IDLETUNE_VERBOSE", "3");
  const Variable tuning("IDLETUNE_MAX_TUNING_MS", "1500");
  AgentOptions options;
  REQUIRE(apply_environment(options).ok());
  CHECK(options.mode == Mode::cached);
  CHECK(options.state == "/data/state");
  CHECK(options.model == "board.itmodel");
  CHECK(options.log_level == 3);
  CHECK(options.max_tuning == std::chrono::milliseconds(1500));
}

TEST_CASE("an empty variable changes nothing") {
  const Variable mode("IDLETUNE_MODE", "");
  AgentOptions options;
  REQUIRE(apply_environment(options).ok());
  CHECK(options.mode == Mode::tune);
}

TEST_CASE("a missing helper is told when the agent is opened, with how to name another") {
  AgentOptions options;
  options.model = kNoModel;
  options.read_environment = false;
  options.helper = "/nowhere/idletune-helper";
  const auto agent = required(Agent::open(options));
  const Status trials = agent.status().trials;
  CHECK(trials.code() == StatusCode::not_found);
  for (const char* part : {"/nowhere/idletune-helper", "option 'helper'", "IDLETUNE_HELPER"}) {
    CHECK(trials.message().find(part) != std::string::npos);
  }
  options.mode = Mode::cached;  // needs none
  const auto cached = required(Agent::open(options));
  CHECK(cached.status().trials.ok());
}

TEST_CASE("no tuning time means no tuning, not unlimited tuning") {
  const Variable tuning("IDLETUNE_MAX_TUNING_MS", "0");
  AgentOptions options;
  REQUIRE(apply_environment(options).ok());
  CHECK(options.mode == Mode::cached);
}

TEST_CASE("a value that is none is refused with its name and what was expected") {
  const char* const wrong[][2] = {
      {"IDLETUNE_MODE", "fast"},         {"IDLETUNE_VERBOSE", "4"},
      {"IDLETUNE_VERBOSE", "1x"},        {"IDLETUNE_MAX_TUNING_MS", "-1"},
      {"IDLETUNE_MAX_TUNING_MS", "nan"}, {"IDLETUNE_MAX_TUNING_MS", "10s"}};
  for (const auto& [name, value] : wrong) {
    CAPTURE(name);
    CAPTURE(value);
    const Variable variable(name, value);
    AgentOptions options;
    const Status status = apply_environment(options);
    CHECK(status.code() == StatusCode::invalid_argument);
    CHECK(status.message().find(name) != std::string::npos);
    CHECK(status.message().find("expected") != std::string::npos);
  }
}

TEST_CASE("the helper is looked for in PATH only if an option says so") {
  const test::TemporaryFolder folder;
  const std::string helper = folder.file("idletune-helper");
  test::overwrite(helper, "");
  std::filesystem::permissions(helper, std::filesystem::perms::owner_all);
  const Variable path("PATH", folder.path().c_str());
  AgentOptions options;
  options.model = kNoModel;
  options.read_environment = false;
  {
    const auto agent = required(Agent::open(options));
    const std::string said = agent.status().trials.message();
    CHECK(said.find(folder.path()) == std::string::npos);
    options.helper_in_path = true;
    const auto seeking = required(Agent::open(options));
    CHECK(seeking.status().trials.ok());
  }
}

TEST_CASE("an agent goes on where it was opened when the application goes elsewhere") {
  const test::TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  AgentOptions options;
  options.model = kNoModel;
  options.read_environment = false;
  options.mode = Mode::cached;
  options.state = "state";
  {
    auto agent = required(Agent::open(options));
    std::filesystem::current_path("/");
    const Status flushed = agent.flush();
    CHECK_MESSAGE(flushed.ok(), flushed.to_string());
    CHECK(std::filesystem::exists(folder.file("state/explain.json")));
  }
  std::filesystem::current_path(before);
}

TEST_CASE("no limit on the time of a run is a limit of a day") {
  AgentOptions options;
  options.run_deadline = Nanoseconds::max();
  options.model_check_interval = Nanoseconds::max();
  const auto board = test::board_that();
  Nanoseconds longest{0};
  board->on_stage = [&](const TrialRequest& request, TrialOutcome&) {
    CHECK(request.deadline.count() >= 0);
    longest = std::max(longest, request.deadline);
  };
  Agent agent = test::agent_on(*board, options);
  auto kernel = required(agent.kernel(board->device, test::played_package()));
  REQUIRE(kernel.prepare({64}).ok());
  (void)agent.tune_now(1h);
  CHECK(longest >= 24h);
  CHECK(longest <= 10 * 24h);
}
