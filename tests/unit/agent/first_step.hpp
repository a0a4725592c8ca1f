// An agent with the real helper, on a device of a stub library.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>

#include "tests/unit/required.hpp"

namespace idletune::test {

// Tunes a kernel with the arguments (out, in, factor) until the first step has ended.
inline void expect_a_step(Device& device, std::vector<std::uint8_t> package,
                          const std::string& state) {
  using namespace std::chrono_literals;
  AgentOptions options;
  options.state = state;
  const char* helper = std::getenv("IDLETUNE_HELPER");
  REQUIRE_MESSAGE(helper != nullptr, "IDLETUNE_HELPER: expected the path of idletune-helper");
  options.helper = helper;
  options.run_deadline = 5s;  // stubs run on a processor, which others may have
  auto agent = required(Agent::open(options));
  auto kernel = required(agent.kernel(device, std::move(package)));
  auto out = required(device.allocate(64 * sizeof(float)));
  auto in = required(device.allocate(64 * sizeof(float)));
  kernel.expect_launches({64}, 1e9);
  REQUIRE(kernel.launch({64}, {out->argument(), in->argument(), Argument(3.0f)}).ok());
  const auto start = std::chrono::steady_clock::now();
  IdleReport report;
  while (report.steps == 0 && agent.status().tuning_enabled &&
         std::chrono::steady_clock::now() - start < 5min) {
    report = agent.tune_now(500ms + report.needs);
  }
  CHECK_MESSAGE(report.steps > 0, agent.explain());
}

inline long files_in(const std::string& folder) {
  std::error_code none;
  const std::filesystem::directory_iterator files(folder, none);
  return std::distance(begin(files), end(files));
}

}  // namespace idletune::test
