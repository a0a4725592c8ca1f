// Launches of variants that prepare something once for all that follow.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "agent/host/lab/scripted_clock.hpp"
#include "agent/launch/kernel_state.hpp"
#include "tests/unit/launch/queues.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/trial/setup_kernel.hpp"

using namespace idletune;
using idletune::detail::KernelState;
using idletune::detail::ShapeSlot;
using idletune::detail::Variant;
using idletune::fake::Queues;
using idletune::fake::same;

namespace {

struct SetupApplication {
  explicit SetupApplication(std::uint64_t scratch_limit_bytes = 1 << 20) {
    auto made =
        required(KernelState::create(device, fake::setup_package(), 8, scratch_limit_bytes));
    kernel = std::move(made);
    auto found = required(kernel->slot_for(detail::TunerLock::held(), {100}));
    slot = &*found;
    variant = required(kernel->build(*slot, {0, 16, 1}, Selection::tuned));
    slot->current.store(variant.get());
  }
  ~SetupApplication() { slot->current.store(&slot->fallback); }
  Status launch(void* weights, const LaunchOptions& options = {}) {
    const Argument arguments[] = {weights, x, y};
    return kernel->launch(options, {100}, arguments);
  }
  void allow(std::uint32_t setups) { variant->scratch->setups_allowed = setups; }
  // As the tuner does where it may run again.
  void accept() { variant->refused = false; }
  std::string names(void* weights) {
    REQUIRE(launch(weights).ok());
    return device.names();
  }

  int memory[4] = {};
  void* w = &memory[0];
  void* other = &memory[1];
  void* x = &memory[2];
  void* y = &memory[3];
  Queues device;
  std::unique_ptr<KernelState> kernel;
  ShapeSlot* slot = nullptr;
  std::unique_ptr<Variant> variant;
};

}  // namespace

TEST_CASE("the setup is enqueued once, before the steps, when it is allowed") {
  SetupApplication application;
  CHECK(application.names(application.w) == "direct ");
  application.allow(1);
  CHECK(application.names(application.w) == "convert scale ");
  CHECK(application.names(application.w) == "scale ");
  CHECK_FALSE(application.variant->refused);
  CHECK(application.device.allocated == 400);  // when the variant was built
}

TEST_CASE("a setup waits for the application's events, and the last step gives its own") {
  SetupApplication application;
  application.allow(1);
  void* event = nullptr;
  const void* waits[] = {&event};
  LaunchOptions options;
  options.wait_list = waits;
  options.wait_count = 1;
  options.event = &event;
  REQUIRE(application.launch(application.w, options).ok());
  const auto entries = application.device.take();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].waits == 1);
  CHECK_FALSE(entries[0].event);
  CHECK(entries[1].waits == 0);
  CHECK(entries[1].event);
  CHECK_FALSE(entries[0].profiled);  // its time is none of the variant's
  CHECK(entries[1].profiled);
  CHECK(same(entries[0].arguments[0], Argument(&application.memory[0])));
  CHECK(same(entries[0].arguments[1], entries[1].arguments[0]));  // what it prepares
}

TEST_CASE("another constant buffer needs another setup, and the default runs without one") {
  SetupApplication application;
  application.allow(1);
  CHECK(application.names(application.w) == "convert scale ");
  CHECK(application.names(application.other) == "direct ");
  CHECK(application.names(application.w) == "scale ");  // that is still prepared
  CHECK(application.names(application.other) == "direct ");
  CHECK(application.variant->scratch->setups_made == 1);
  CHECK(application.variant->scratch->unprepared_in_a_row == 1);
  CHECK(application.variant->scratch->unprepared_launches == 2);
  application.allow(1);
  CHECK(application.names(application.other) == "convert scale ");
  CHECK(application.names(application.other) == "scale ");
  CHECK(application.names(application.w) == "direct ");
  CHECK_FALSE(application.variant->refused);
}

TEST_CASE("what the application says has changed is prepared again") {
  SetupApplication application;
  application.allow(1);
  CHECK(application.names(application.w) == "convert scale ");
  application.slot->constants_version.fetch_add(1);
  CHECK(application.names(application.w) == "direct ");
  application.allow(1);
  CHECK(application.names(application.w) == "convert scale ");
  CHECK(application.names(application.w) == "scale ");
}

TEST_CASE("a setup that the driver refuses costs the application nothing") {
  SetupApplication application;
  application.allow(2);
  application.device.failing = "convert";
  CHECK(application.names(application.w) == "direct ");
  CHECK(application.variant->refused);  // the tuner will demote it
  application.device.failing.clear();
  CHECK(application.names(application.w) == "direct ");
  application.accept();
  CHECK(application.names(application.w) == "convert scale ");  // nothing counted as prepared
}

TEST_CASE("a setup that was not enqueued since the queues could not be ordered was not made") {
  SetupApplication application;
  application.allow(2);
  CHECK(application.names(application.w) == "convert scale ");
  int second = 0;
  LaunchOptions on_second;
  on_second.queue = &second;
  application.device.refused_orders = 1;
  REQUIRE(application.launch(application.other, on_second).ok());
  CHECK(application.device.names() == "direct ");
  CHECK(application.variant->scratch->setups_made == 1);
  CHECK(application.variant->scratch->setups_allowed == 1);
  application.accept();
  REQUIRE(application.launch(application.other, on_second).ok());
  CHECK(application.device.names() == "order convert scale ");
  CHECK(application.variant->scratch->setups_allowed == 0);
}

TEST_CASE("a setup that fails in its midst leaves nothing that counts as prepared") {
  SetupApplication application;
  application.allow(3);
  CHECK(application.names(application.w) == "convert scale ");
  application.device.failing = "convert";
  CHECK(application.names(application.other) == "direct ");
  application.device.failing.clear();
  application.accept();
  CHECK(application.names(application.w) == "convert scale ");
}

TEST_CASE("what the default is refused as well is no fault of the variant") {
  SetupApplication application;
  application.allow(1);
  CHECK(application.names(application.w) == "convert scale ");
  application.device.failing = "*";
  CHECK(application.launch(application.w).code() == StatusCode::device_error);
  CHECK_FALSE(application.variant->refused);
  // Neither of one that is raced.
  application.slot->current.store(&application.slot->fallback);
  application.slot->racers[0].store(application.variant.get());
  application.slot->race_turns.store(detail::LaunchTurns::pack(2, 1));
  application.slot->launches.store(0);  // the racer's turn
  CHECK(application.launch(application.w).code() == StatusCode::device_error);
  CHECK_FALSE(application.variant->refused);
  application.slot->launches.store(0);
  application.device.failing = "scale";
  CHECK(application.names(application.w) == "direct ");
  CHECK(application.variant->refused);
}

TEST_CASE("a step that fails behind its setup is told, and what was prepared stays") {
  SetupApplication application;
  application.allow(1);
  application.device.failing = "scale";
  // The setup alone has changed nothing of the application's: the default takes over.
  CHECK(application.launch(application.w).ok());
  CHECK(application.device.names() == "convert direct ");
  CHECK(application.variant->refused);
  application.device.failing.clear();
  application.accept();
  CHECK(application.names(application.w) == "scale ");
}

TEST_CASE("a launch that waits for its setup leaves the trace of one that runs alone") {
  detail::LaunchTrace::Page page{};
  detail::LaunchTrace trace(page, 1);
  const ScriptedClock clock;
  SetupApplication application;
  application.kernel->trace_launches(&trace, &clock, 0);
  application.variant =
      required(application.kernel->build(*application.slot, {0, 16, 1}, Selection::tuned));
  application.slot->current.store(application.variant.get());
  application.allow(1);
  CHECK(application.names(application.w) == "convert scale ");
  CHECK(application.names(application.other) == "direct ");
  CHECK(page.cells[0].begun != 0);
}

TEST_CASE("a launch on another queue comes after the setup on the first") {
  SetupApplication application;
  application.allow(1);
  int second = 0;
  LaunchOptions on_second;
  on_second.queue = &second;
  REQUIRE(application.launch(application.w).ok());
  REQUIRE(application.launch(application.w, on_second).ok());
  CHECK(application.device.names() == "convert scale order scale ");
}

TEST_CASE("a default with a setup makes it without being asked") {
  Queues device;
  KernelDescription description = fake::setup_description();
  description.parameters[2].default_value = 1;
  auto package = required(KernelPackage::open(*pack(description), "test"));
  auto kernel = required(KernelState::create(device, package, 8));
  int memory[3] = {};
  for (int i = 0; i < 3; ++i) {
    const Argument given[] = {static_cast<void*>(&memory[0]), static_cast<void*>(&memory[1]),
                              static_cast<void*>(&memory[2])};
    REQUIRE(kernel->launch({}, {100}, given).ok());
  }
  CHECK(device.names() == "convert scale scale scale ");
}

TEST_CASE("a default whose setup was not enqueued makes it at the next launch") {
  Queues device;
  KernelDescription description = fake::setup_description();
  description.parameters[2].default_value = 1;
  auto package = required(KernelPackage::open(*pack(description), "test"));
  auto kernel = required(KernelState::create(device, package, 8));
  int memory[4] = {};
  const auto launch = [&](int weights, const LaunchOptions& options) {
    const Argument given[] = {static_cast<void*>(&memory[weights]), static_cast<void*>(&memory[2]),
                              static_cast<void*>(&memory[3])};
    return kernel->launch(options, {100}, given);
  };
  REQUIRE(launch(0, {}).ok());
  LaunchOptions on_second;
  on_second.queue = &memory;
  device.refused_orders = 1;
  CHECK(launch(1, on_second).code() == StatusCode::device_error);
  REQUIRE(launch(1, {}).ok());
  CHECK(device.names() == "convert scale convert scale ");
}

TEST_CASE("memory that is prepared counts towards the limit of scratch") {
  Queues device;
  auto kernel = required(KernelState::create(device, fake::setup_package(), 8, 399));
  auto slot = required(kernel->slot_for(detail::TunerLock::held(), {100}));
  CHECK(kernel->build(*slot, {0, 16, 1}, Selection::tuned).code() == StatusCode::out_of_memory);
  CHECK(kernel->build(*slot, {0, 16, 0}, Selection::tuned).ok());
}

TEST_CASE("several threads make one setup, and all launches come after it") {
  SetupApplication application;
  application.allow(1);
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) failed += !application.launch(application.w).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  const auto entries = application.device.take();
  REQUIRE(entries.size() == 401);
  CHECK(entries.front().what == "convert");
  std::size_t other = 0;
  for (std::size_t i = 1; i < entries.size(); ++i) other += entries[i].what != "scale";
  CHECK(other == 0);
}
