// Tuning on time that somebody grants here and now, for commands.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include <idletune/agent.hpp>

namespace idletune::detail {

// Why it ended.
enum class Ending : std::uint8_t { budget, nothing_left, interrupted };

// Tunes until the budget is spent, or nothing is left to try that fits it, or `go_on` says no: asked
// every quarter of a second or after a longer stage, with the configurations tried so far.
Ending tune_within(Agent& agent, std::chrono::nanoseconds budget,
                   const std::function<bool(std::uint64_t steps)>& go_on);

}  // namespace idletune::detail
