// A kernel that nobody compiles and how long each configuration takes, for agents on played boards.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/agent/played_board.hpp"
#include "tests/unit/agent/played_times.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/package/made_kernels.hpp"

namespace idletune::test {

// A kernel of one dimension with parameters A and B in 1..16, defaults 1 and 1, and no argument
// yet.
inline KernelDescription played_description() {
  KernelDescription description = made_kernel("play", "nobody compiles this");
  for (const char* name : {"A", "B"}) {
    DescribedParameter parameter{name, ParameterKind::other, {}, 1};
    for (std::int64_t value = 1; value <= 16; ++value) parameter.values.push_back(value);
    description.parameters.push_back(parameter);
  }
  description.launch.global = {"N"};
  description.launch.local = {"1"};
  return description;
}

// With one buffer.
inline std::vector<std::uint8_t> played_package(ScalarType type = ScalarType::f32) {
  KernelDescription description = played_description();
  description.arguments = {made_buffer("x", "N", Access::inout)};
  description.arguments[0].type = type;
  return packed(description);
}

// A board for it, and an agent that lives on that board.
inline std::unique_ptr<PlayedBoard> board_that(const Behaviour& behaviour = played) {
  return std::make_unique<PlayedBoard>("play", std::vector<std::string>{"A", "B"}, behaviour);
}
inline AgentOptions options_in(const std::string& state) {
  AgentOptions options;
  options.state = state;
  return options;
}
inline Agent agent_on(PlayedBoard& board, const AgentOptions& options) {
  auto agent = detail::AgentState::open_agent(options, board.surroundings());
  REQUIRE_MESSAGE(agent.ok(), agent.status().to_string());
  return std::move(*agent);
}

}  // namespace idletune::test
