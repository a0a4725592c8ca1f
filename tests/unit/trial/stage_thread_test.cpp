#include "agent/trial/stage_thread.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/os/jumping_clock.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using trial::StageThread;

TEST_CASE("stages run one after the other and each outcome is taken once") {
  auto thread = StageThread::create("test", [](const TrialRequest& request) {
    TrialOutcome outcome;
    outcome.stage = request.stage;
    outcome.message = std::to_string(request.seed);
    return outcome;
  });
  REQUIRE(thread.ok());
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    TrialRequest request;
    request.seed = seed;
    request.stage = TrialStage::measure;
    REQUIRE((*thread)->start(request).ok());
    TrialOutcome outcome;
    REQUIRE((*thread)->poll(std::chrono::minutes(5), outcome));
    CHECK(outcome.message == std::to_string(seed));
    CHECK(outcome.stage == TrialStage::measure);
    CHECK_FALSE((*thread)->poll(Nanoseconds(0), outcome));
  }
}

TEST_CASE("a stage thread is busy until the outcome is taken") {
  auto thread =
      required(StageThread::create("test", [](const TrialRequest&) { return TrialOutcome(); }));
  REQUIRE(thread->start(TrialRequest()).ok());
  thread->wait_until_idle();
  CHECK(thread->start(TrialRequest()).code() == StatusCode::busy);
  TrialOutcome outcome;
  CHECK(thread->poll(Nanoseconds(0), outcome));
  CHECK(thread->start(TrialRequest()).ok());
}

TEST_CASE("waiting for a stage that was never started returns at once") {
  auto thread =
      required(StageThread::create("test", [](const TrialRequest&) { return TrialOutcome(); }));
  TrialOutcome outcome;
  CHECK_FALSE(thread->poll(std::chrono::hours(24 * 365), outcome));
  thread->wait_until_idle();
}

TEST_CASE("a look at a stage is over in its time though the system's clock is set back meanwhile") {
  std::atomic<bool> seen{false};
  auto thread = StageThread::create("test", [&](const TrialRequest&) {
    for (int i = 0; i < 30000 && !seen.load(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return TrialOutcome();
  });
  REQUIRE(thread.ok());
  REQUIRE((*thread)->start(TrialRequest()).ok());
  TrialOutcome outcome;
  test::set_clock_ahead(CLOCK_REALTIME, 3600);  // the kernel never sees it there
  CHECK_FALSE((*thread)->poll(std::chrono::milliseconds(10), outcome));
  test::set_clock_ahead(CLOCK_REALTIME, 0);
  seen.store(true);
  CHECK((*thread)->poll(std::chrono::minutes(5), outcome));
}

TEST_CASE("destroying a stage thread waits for what it runs") {
  std::atomic<int> running{0};
  {
    auto thread = StageThread::create("test", [&](const TrialRequest&) {
      ++running;
      --running;
      return TrialOutcome();
    });
    REQUIRE(thread.ok());
    REQUIRE((*thread)->start(TrialRequest()).ok());
  }
  CHECK(running.load() == 0);
}
