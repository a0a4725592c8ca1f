// A kernel that nobody compiles and how long each configuration takes, for agents on replayed
// devices.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>

#include "agent/lab/replay_device.hpp"
#include "agent/src/agent_state.hpp"
#include "models/package/pack.hpp"

namespace idletune::test {

// A kernel of one dimension with parameters A and B in 1..16, defaults 1 and 1.
inline std::vector<std::uint8_t> played_package() {
  KernelDescription description;
  description.name = "play";
  description.source = "nobody compiles this";
  description.entry = "play";
  description.dimensions = {"N"};
  for (const char* name : {"A", "B"}) {
    DescribedParameter parameter{name, ParameterKind::other, {}, 1};
    for (std::int64_t value = 1; value <= 16; ++value) parameter.values.push_back(value);
    description.parameters.push_back(parameter);
  }
  description.launch.global = {"N"};
  description.launch.local = {"1"};
  DescribedArgument x;
  x.name = "x";
  x.access = Access::inout;
  x.size = "N";
  description.arguments = {x};
  auto bytes = pack(description);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
  return std::move(*bytes);
}

// 4 ms at the default, 1 ms at A = B = 8, between them elsewhere.
inline Nanoseconds played_time(std::int64_t a, std::int64_t b) {
  const double distance = std::hypot(static_cast<double>(a - 8), static_cast<double>(b - 8));
  return Nanoseconds(static_cast<std::int64_t>(1e6 + 3e6 * std::min(1.0, distance / 9.9)));
}

// Every configuration with that time, after 20 ms of compiling.
inline replay::MemoryTable played_table(const std::string& driver = "1") {
  DeviceInfo device;
  device.platform = "test";
  device.name = "board";
  device.driver = driver;
  device.local_memory_bytes = 32768;
  device.max_work_group_size = 256;
  device.max_work_item_sizes = {256, 256, 64};
  device.max_allocation_bytes = 1u << 28;
  replay::MemoryTable result(device, {"A", "B"});
  for (std::int64_t a = 1; a <= 16; ++a) {
    for (std::int64_t b = 1; b <= 16; ++b) {
      const Nanoseconds time = played_time(a, b);
      REQUIRE(result.add({a, b}, TrialStatus::correct, {time}, std::chrono::milliseconds(20)).ok());
    }
  }
  return result;
}

// The time that passes on a replayed device.
class DeviceClock final : public MonotonicClock {
 public:
  explicit DeviceClock(const Device& device) : device_(device) {}
  Nanoseconds now() const override { return device_.now(); }

 private:
  const Device& device_;
};

// An agent that lives by `clock` and builds on the caller's thread.
inline Agent played_agent(AgentOptions options, const MonotonicClock& clock) {
  options.read_environment = false;
  options.isolation = Isolation::in_process;
  detail::Surroundings played = detail::real_surroundings(options);
  played.clock = &clock;
  played.builds = detail::BuildThread::caller;
  auto agent = detail::AgentState::open_agent(options, played);
  REQUIRE_MESSAGE(agent.ok(), agent.status().to_string());
  return std::move(*agent);
}

}  // namespace idletune::test
