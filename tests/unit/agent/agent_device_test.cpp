// The agent on a real OpenCL device through its public interface: tuning beside launches.
#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/unit/agent/checked_work.hpp"
#include "tests/unit/agent/raw_application.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/agent/watched_agent.hpp"

using namespace idletune;
using namespace idletune::test;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

// A thread that launches beside the test's own: the same shapes, buffers of its own.
class SecondLauncher {
 public:
  SecondLauncher(RawApplication& application, TunedKernel& kernel)
      : square_(application, 96, 96, 64), odd_(application, 101, 67, 33), kernel_(kernel) {
    thread_ = std::thread([this] { run(); });
  }
  ~SecondLauncher() { join(); }
  void join() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // Whether it is to launch, or to keep still as in the gap between two frames.
  void set_busy(bool busy) { busy_ = busy; }
  std::size_t launches() const { return launches_; }
  std::size_t wrong() const { return wrong_; }

 private:
  void run() {
    while (!stop_) {
      if (busy_) {
        wrong_ += square_.wrong(kernel_) + odd_.wrong(kernel_);
        launches_ += 2;
      } else {
        std::this_thread::sleep_for(1ms);
      }
    }
  }

  Product square_;
  Product odd_;
  TunedKernel& kernel_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> busy_{false};
  std::atomic<std::size_t> launches_{0};
  std::atomic<std::size_t> wrong_{0};
  std::thread thread_;
};

}  // namespace

TEST_CASE("idle time in small pieces tunes gemm, and every launch is right") {
  EagerApplication home;
  Product work(home.application, 96, 100, 64);
  Agent agent = home.open();
  TunedKernel kernel = load(agent, home.application.device(), packed(small_gemm()));
  CHECK(agent.idle(1s).stages == 0);  // nothing was launched yet
  CHECK(work.wrong(kernel) == 0);
  kernel.expect_launches(work.shape, 1e9);
  const IdleReport none = agent.idle(0ns);
  CHECK(none.stages == 0);
  Explanation now;
  const auto end = Clock::now() + kPatience;
  Nanoseconds offered{0};
  Nanoseconds used{0};
  bool stage_runs = false;
  for (int frame = 0; now.selection != Selection::tuned; ++frame) {
    CHECK(work.wrong(kernel) == 0);
    const Nanoseconds budget = frame % 3 == 0 ? Nanoseconds(1us) : Nanoseconds(20ms);
    const IdleReport report = agent.idle(budget);
    // No stage fits a microsecond, so none can end that did not run before.
    if (budget == 1us && !stage_runs) CHECK(report.stages == 0);
    stage_runs = report.waiting;
    // The helper gets only what nobody else wants.
    if (report.waiting) std::this_thread::sleep_for(5ms);
    offered += budget;
    used += report.used;
    now = explain(kernel, work.shape);
    REQUIRE_MESSAGE(Clock::now() < end, now.reason << "\n" << home.messages.text());
  }
  CHECK(used <= 2 * offered + 1s);
  CHECK(home.messages.count(": adopt (") >= 1);  // seen to be faster, in pairs
  CHECK(now.speed_up == doctest::Approx(now.default_ms / now.running_ms));
  for (int i = 0; i < 50; ++i) CHECK(work.wrong(kernel) == 0);
  CHECK(explain(kernel, work.shape).launches > 50);
}

TEST_CASE("launches are right while another thread tunes and adopts") {
  EagerApplication home;
  Product square(home.application, 96, 96, 64);
  Product odd(home.application, 101, 67, 33);
  Product flat(home.application, 8, 300, 40);
  const std::vector<Product*> shapes{&square, &odd, &flat};
  Agent agent = home.open();
  TunedKernel kernel = load(agent, home.application.device(), packed(small_gemm()));
  for (Product* product : shapes) {
    CHECK(product->wrong(kernel) == 0);
    kernel.expect_launches(product->shape, 1e9);
  }
  BackgroundOptions background;
  background.max_duty = 1;
  background.max_gap = 80ms;
  REQUIRE(agent.start_background(background).ok());
  CHECK(agent.start_background(background).code() == StatusCode::busy);

  SecondLauncher second(home.application, kernel);
  std::size_t wrong = 0;
  std::size_t launches = 0;
  std::size_t tuned = 0;
  const auto begin = Clock::now();
  while (tuned < 1 || Clock::now() - begin < 5s) {
    second.set_busy(true);
    for (Product* product : shapes) {
      for (int i = 0; i < 5; ++i) wrong += product->wrong(kernel);
      launches += 5;
    }
    second.set_busy(false);
    std::this_thread::sleep_for(80ms);
    tuned = 0;
    for (Product* product : shapes) {
      tuned += explain(kernel, product->shape).selection == Selection::tuned;
    }
    REQUIRE_MESSAGE(Clock::now() - begin < kPatience, agent.explain() << home.messages.text());
  }
  second.join();
  agent.stop_background();
  CHECK(wrong == 0);
  CHECK(second.wrong() == 0);
  CHECK(second.launches() > 0);
  launches += second.launches();
  MESSAGE(launches << " launches, " << home.messages.count(": adopt (") << " adoptions");
  for (Product* product : shapes) CHECK(product->wrong(kernel) == 0);
}

TEST_CASE("launches time candidates in place, without any call for idle time") {
  EagerApplication home;
  Product work(home.application, 64, 48, 48);
  Product other(home.application, 32, 64, 40);  // timed at the same time
  const std::vector<Product*> shapes{&work, &other};
  Agent agent = home.open();
  TunedKernel kernel = load(agent, home.application.device(), packed(small_gemm()));
  InPlaceOptions in_place;
  in_place.allowed = true;
  in_place.max_slowdown = 0.5;
  kernel.allow_in_place(in_place);
  for (Product* product : shapes) {
    CHECK(product->wrong(kernel) == 0);
    kernel.expect_launches(product->shape, 1e9);
  }
  BackgroundOptions background;
  background.max_duty = 1;
  background.max_gap = 200ms;
  REQUIRE(agent.start_background(background).ok());
  const auto end = Clock::now() + kPatience;
  std::size_t wrong = 0;
  const auto tuned = [&](const Product* product) {
    return explain(kernel, product->shape).selection == Selection::tuned;
  };
  while (!tuned(&work) || !tuned(&other)) {
    for (int i = 0; i < 10; ++i) wrong += work.wrong(kernel) + other.wrong(kernel);
    std::this_thread::sleep_for(20ms);  // the helper gets only what nobody else wants
    REQUIRE_MESSAGE(Clock::now() < end, agent.explain() << home.messages.text());
  }
  for (int i = 0; i < 50; ++i) wrong += work.wrong(kernel) + other.wrong(kernel);
  CHECK(wrong == 0);
  for (const Product* product : shapes) {
    const Explanation now = explain(kernel, product->shape);
    CHECK(now.speed_up == doctest::Approx(now.default_ms / now.running_ms));
  }
  CHECK(home.messages.count(": adopt (") >= 2);  // each was seen to be faster than what ran
  // The agent goes while it is tuning.
}
