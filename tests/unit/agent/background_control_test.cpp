// Starting and stopping background tuning from several threads.
#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace idletune;

namespace {

constexpr int kThreads = 8;

Agent open_agent(Mode mode = Mode::tune) {
  AgentOptions options;
  options.mode = mode;
  options.model = kNoModel;
  options.read_environment = false;
  auto agent = Agent::open(options);
  REQUIRE_MESSAGE(agent.ok(), agent.status().to_string());
  return std::move(*agent);
}

// Runs `work` on all threads at once.
template <class Work>
void together(const Work& work) {
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      work();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("of many threads that start background tuning one succeeds and the others are told") {
  Agent agent = open_agent();
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> started{0};
    std::atomic<int> busy{0};
    together([&] {
      const Status status = agent.start_background();
      started += status.ok();
      busy += status.code() == StatusCode::busy;
    });
    CHECK(started == 1);
    CHECK(busy == kThreads - 1);
    together([&] { agent.stop_background(); });
  }
}

TEST_CASE("where the mode forbids tuning, starting it in the background is no failure") {
  for (const Mode mode : {Mode::off, Mode::cached}) {
    Agent agent = open_agent(mode);
    CHECK(agent.start_background().ok());
    CHECK(agent.start_background().ok());
    agent.stop_background();
  }
}

TEST_CASE("threads may start and stop background tuning against each other") {
  Agent agent = open_agent();
  std::atomic<int> calls{0};
  together([&] {
    for (int i = 0; i < 20; ++i) {
      if (calls++ % 2 == 0) {
        const Status status = agent.start_background();
        if (!status.ok()) REQUIRE(status.code() == StatusCode::busy);
      } else {
        agent.stop_background();
      }
    }
  });
  agent.stop_background();
  CHECK(agent.start_background().ok());
}
