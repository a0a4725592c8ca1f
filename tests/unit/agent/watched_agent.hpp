// An agent whose messages are kept, and what its journal holds.
#pragma once

#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

// Only ever reached by a failure: the machine may be slow.
constexpr std::chrono::seconds kPatience{300};
// Longer than a busy machine stops a run that ends, which would be taken for an endless one.
constexpr std::chrono::seconds kEndless{1};

// Collects the agent's messages.
struct Messages {
  static void take(void* self, int, const char* message) {
    auto& messages = *static_cast<Messages*>(self);
    const std::lock_guard<std::mutex> lock(messages.mutex);
    messages.lines.emplace_back(message);
  }
  // All of them, from an agent with these options.
  void collect(AgentOptions& options) {
    options.log = &take;
    options.log_user = this;
    options.log_level = 2;
  }
  std::size_t count(const std::string& part) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::size_t found = 0;
    for (const std::string& line : lines) found += line.find(part) != std::string::npos;
    return found;
  }
  std::string text() {
    const std::lock_guard<std::mutex> lock(mutex);
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }
  std::mutex mutex;
  std::vector<std::string> lines;
};

inline AgentOptions options_with(const std::string& state, Messages& messages) {
  AgentOptions options;
  options.state = state;
  options.run_deadline = kEndless;
  messages.collect(options);
  return options;
}

inline Agent open_agent(const AgentOptions& options) { return required(Agent::open(options)); }

inline TunedKernel load(Agent& agent, Device& device, const std::vector<std::uint8_t>& package) {
  return required(agent.kernel(device, package));
}

inline Explanation explain(const TunedKernel& kernel, const Shape& shape) {
  return required(kernel.explain(shape));
}

// Options under which search is worth everything, so that a test need not launch for hours.
inline AgentOptions eager(const std::string& state, Messages& messages) {
  AgentOptions options = options_with(state, messages);
  options.sysfs_root = state;  // no sensors
  options.idle_cost = 0;
  options.compile_cost = 0;
  options.overhead_limit = 1;
  return options;
}

inline journal::JournalSummary journal_of(const std::string& state) {
  auto bytes = required(read_file(state + "/" + journal::kJournalName, 8u << 20));
  return required(journal::read_journal(bytes));
}

inline std::vector<journal::Quarantine> quarantines_of(const std::string& state) {
  std::vector<journal::Quarantine> result;
  const journal::JournalSummary summary = journal_of(state);
  summary.state.dangers().for_each_quarantine(
      [&](const journal::Quarantine& quarantine) { result.push_back(quarantine); });
  return result;
}

inline std::vector<Configuration> suspects_of(const std::string& state) {
  std::vector<Configuration> result;
  const journal::JournalSummary summary = journal_of(state);
  summary.state.dangers().for_each_suspect(
      [&](const journal::Suspect& suspect) { result.push_back(suspect.trial.configuration); });
  return result;
}

// Tunes in slices until everything has been tried; `between` runs after each.
template <class Between>
Explanation tune_all(Agent& agent, TunedKernel& kernel, const Shape& shape, Between between) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + kPatience;
  std::chrono::nanoseconds slice = 400ms;
  for (;;) {
    const IdleReport report = agent.tune_now(slice);
    between();
    const Explanation now = explain(kernel, shape);
    const bool idled = report.stages == 0 && report.used < slice;
    slice = 400ms + report.needs;  // a stage that a busy machine drew out once
    if (idled && !report.waiting && report.needs == 0ns) return now;
    REQUIRE_MESSAGE(Clock::now() < end, "not done: " << now.evaluated << " tried, " << now.reason);
  }
}

// Gives idle time until `done`, and launches in between.
template <class Done, class Launch>
void tune_until(Agent& agent, Done done, Launch launch) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    launch();
    // The compiler is somewhere else, and gets only what nobody else wants.
    if (agent.idle(50ms).waiting) std::this_thread::sleep_for(10ms);
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end, agent.explain());
  }
}

}  // namespace idletune::test
