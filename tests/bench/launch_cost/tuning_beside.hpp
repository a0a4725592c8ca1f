// Tuning that really goes on while launches are timed: a thread makes one step after the other. Its
// trials run in idletune-helper, on the stub drivers, which compute gemm there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include <idletune/agent.hpp>

#include "tests/unit/variable.hpp"

namespace idletune::bench {

using test::Variable;

// What takes longer than this does not happen.
constexpr std::chrono::minutes kTuningPatience{2};

class TuningBeside {
 public:
  // Returns when the first step has ended. The agent must outlive this, and know a shape already.
  // Throws if nothing is tuned.
  explicit TuningBeside(Agent& agent) : agent_(agent), thread_([this] { tune(); }) {
    try {
      wait_for(1);
    } catch (...) {
      end();
      throw;
    }
  }
  TuningBeside(const TuningBeside&) = delete;
  TuningBeside& operator=(const TuningBeside&) = delete;
  ~TuningBeside() { end(); }

  // Configurations that were tried to the end so far.
  std::uint64_t steps() const { return steps_.load(); }

  // Throws if that takes too long.
  void wait_for(std::uint64_t steps) const {
    const auto end = std::chrono::steady_clock::now() + kTuningPatience;
    while (steps_.load() < steps) {
      require_time_left(end);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // Throws after `end`.
  void require_time_left(std::chrono::steady_clock::time_point end) const {
    if (std::chrono::steady_clock::now() < end) return;
    throw std::runtime_error(
        "tuning was to go on beside the launches, but after " + std::to_string(steps()) +
        " steps it did not (trials: " + agent_.status().trials.to_string() + ")");
  }

 private:
  void tune() {
    // Room for a stage of a sanitized build, too.
    while (!stopping_.load()) steps_ += agent_.tune_now(std::chrono::milliseconds(500)).steps;
  }
  void end() {
    stopping_ = true;
    thread_.join();
  }

  Agent& agent_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> steps_{0};
  std::thread thread_;
};

}  // namespace idletune::bench
