// Launches of variants that consist of several steps.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "agent/launch/kernel_state.hpp"
#include "tests/unit/launch/queues.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/trial/steps_kernel.hpp"

using namespace idletune;
using idletune::detail::KernelState;
using idletune::fake::Queues;
using idletune::fake::same;

namespace {

struct StepsApplication {
  explicit StepsApplication(std::uint64_t scratch_limit_bytes = 1 << 20) {
    auto made =
        required(KernelState::create(device, fake::steps_package(), 8, scratch_limit_bytes));
    kernel = std::move(made);
  }
  Status launch(const LaunchOptions& options = {}, const Shape& shape = {100}) {
    const Argument arguments[] = {x, y};
    return kernel->launch(options, shape, arguments);
  }

  int x_memory = 0, y_memory = 0;
  void* x = &x_memory;
  void* y = &y_memory;
  Queues device;
  std::unique_ptr<KernelState> kernel;
};

}  // namespace

TEST_CASE("a launch enqueues the steps in order, each with its arguments") {
  StepsApplication application;
  void* event = nullptr;
  const void* waits[] = {&event};
  LaunchOptions options;
  options.wait_list = waits;
  options.wait_count = 1;
  options.event = &event;
  REQUIRE(application.launch(options).ok());
  const auto entries = application.device.take();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].what == "square");
  CHECK(entries[1].what == "increment");
  CHECK(entries[2].what == "add");
  CHECK(entries[0].waits == 1);  // the application's; the others follow by the queue's order
  CHECK(entries[1].waits == 0);
  CHECK_FALSE(entries[0].event);
  CHECK(entries[2].event);
  REQUIRE(entries[0].arguments.size() == 3);
  REQUIRE(entries[1].arguments.size() == 4);
  CHECK(same(entries[0].arguments[0], Argument(&application.x_memory)));
  CHECK(same(entries[0].arguments[1], entries[1].arguments[0]));  // t is handed on
  CHECK(same(entries[1].arguments[1], entries[2].arguments[0]));  // and u
  CHECK(same(entries[2].arguments[1], Argument(&application.y_memory)));
  CHECK(same(entries[2].arguments[2], Argument(100)));
}

TEST_CASE("scratch is taken once per variant, and not where no step needs it") {
  StepsApplication application;
  REQUIRE(application.launch({}, {5}).ok());
  CHECK(application.device.names() == "all ");
  CHECK(application.device.allocated == 0);
  REQUIRE(application.launch().ok());
  CHECK(application.device.allocated == 800);
  for (int i = 0; i < 10; ++i) REQUIRE(application.launch().ok());
  CHECK(application.device.allocated == 800);
}

TEST_CASE("scratch beyond the limit is refused, and given back with its variant") {
  StepsApplication application(1000);
  REQUIRE(application.launch().ok());
  const Status beyond = application.launch({}, {200});
  CHECK(beyond.code() == StatusCode::out_of_memory);
  CHECK(beyond.message().find("the limit is 1000") != std::string::npos);
  auto slot = application.kernel->slot_for(detail::TunerLock::held(), {100});
  REQUIRE(slot.ok());
  CHECK(application.kernel->build(**slot, {0, 16}, Selection::tuned).code() ==
        StatusCode::out_of_memory);
  StepsApplication roomy(1600);
  slot = roomy.kernel->slot_for(detail::TunerLock::held(), {100});
  REQUIRE(slot.ok());
  for (int i = 0; i < 5; ++i) CHECK(roomy.kernel->build(**slot, {0, 16}, Selection::tuned).ok());
}

TEST_CASE("launches on another queue come after those that use the same scratch") {
  StepsApplication application;
  int first = 0, second = 0;
  LaunchOptions on_first, on_second;
  on_first.queue = &first;
  on_second.queue = &second;
  REQUIRE(application.launch(on_first).ok());
  REQUIRE(application.launch(on_first).ok());
  REQUIRE(application.launch(on_second).ok());
  REQUIRE(application.launch(on_first).ok());
  CHECK(application.device.names() ==
        "square increment add square increment add order square increment add order square "
        "increment add ");
}

TEST_CASE("steps of launches from several threads are never mixed") {
  StepsApplication application;
  REQUIRE(application.launch().ok());
  (void)application.device.take();
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) failed += !application.launch().ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  const auto entries = application.device.take();
  REQUIRE(entries.size() == 4 * 200 * 3);
  const char* expected[] = {"square", "increment", "add"};
  std::size_t mixed = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) mixed += entries[i].what != expected[i % 3];
  CHECK(mixed == 0);
}

TEST_CASE("a step that fails in the middle is told, and nothing else runs in its place") {
  StepsApplication application;
  auto slot = required(application.kernel->slot_for(detail::TunerLock::held(), {100}));
  auto variant = required(application.kernel->build(*slot, {0, 16}, Selection::tuned));
  slot->current.store(variant.get());
  application.device.failing = "increment";
  CHECK(application.launch().code() == StatusCode::device_error);
  CHECK(application.device.names() == "square ");
  CHECK(variant->refused);  // the tuner will demote it
  // Where nothing was enqueued yet, the default runs in its place. It fails alike here, which is no
  // fault of the variant.
  variant->refused = false;
  application.device.failing = "square";
  CHECK(application.launch().code() == StatusCode::device_error);
  CHECK_FALSE(variant->refused);
  slot->current.store(&slot->fallback);
}

TEST_CASE("a sampled launch is profiled step by step, and no profile is lost") {
  StepsApplication application;
  REQUIRE(application.launch().ok());
  for (const auto& entry : application.device.take()) CHECK(entry.profiled);
  auto slot = required(application.kernel->slot_for(detail::TunerLock::held(), {100}));
  int profiles = 0;
  slot->tickets.take([&](const detail::WatchTicket& ticket) {
    for (void* profile : ticket.profiles) profiles += profile != nullptr;
    return false;
  });
  CHECK(profiles == 3);
  application.device.failing = "add";
  CHECK_FALSE(application.launch().ok());
  CHECK(application.device.discarded == 2);
  // Of steps some of which are not timed nothing is.
  slot->tickets.discard(application.device);
  application.device.failing.clear();
  application.device.discarded = 0;
  application.device.untimed = "increment";
  slot->launches = 0;
  REQUIRE(application.launch().ok());
  CHECK(application.device.discarded == 1);
  CHECK(slot->tickets.none_out());
}
