// Variants of several steps that run for shapes of their class, in memory that those share.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "agent/host/lab/scripted_clock.hpp"
#include "agent/launch/kernel_state.hpp"
#include "tests/unit/launch/queues.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/trial/steps_kernel.hpp"

using namespace idletune;
using idletune::detail::ClassVariant;
using idletune::detail::KernelState;
using idletune::detail::ShapeSlot;
using idletune::fake::Queues;
using idletune::fake::same;

namespace {

const Configuration kWide{0, 16};  // the default has groups of 4
constexpr std::uint64_t kPlenty = 1 << 20;

// Adopted at 100 elements, whose two scratch buffers have 400 bytes each, and offered for all
// shapes of that class: two groups or more and a rest.
struct SharingApplication {
  explicit SharingApplication(std::size_t max_shapes, std::uint64_t limit_bytes = kPlenty) {
    kernel = required(KernelState::create(device, package, max_shapes, limit_bytes));
    REQUIRE(launch(100).ok());
    (void)device.take();
  }
  void adopt() {
    auto variant = required(kernel->build(slot_of(100), kWide, Selection::tuned));
    const std::uint64_t key = package->class_key({100}, kWide);
    ClassVariant offered;
    offered.programs = variant->programs;
    offered.configuration = kWide;
    offered.adopted_at = {100};
    offered.classes = {key};
    offered.elsewhere = ClassVariant::better;
    kernel->classes().expect_scratch(*variant->scratch);
    kernel->classes().offer({offered});
    device.allocated = 0;
  }
  const ShapeSlot& slot_of(std::int64_t n) {
    return **kernel->slot_for(detail::TunerLock::held(), {n});
  }
  Status launch(std::int64_t n, const LaunchOptions& options = {}) {
    const Argument arguments[] = {x, y};
    return kernel->launch(options, {n}, arguments);
  }

  int x_memory = 0, y_memory = 0;
  void* x = &x_memory;
  void* y = &y_memory;
  Queues device;
  std::shared_ptr<const KernelPackage> package = fake::steps_package();
  std::unique_ptr<KernelState> kernel;
};

}  // namespace

TEST_CASE("A shape without a slot runs its class's steps at its first launch, taking no memory") {
  SharingApplication application(1);
  application.adopt();
  REQUIRE(application.launch(84).ok());
  CHECK(application.kernel->class_launches() == 1);
  CHECK(application.device.allocated == 0);
  const auto entries = application.device.take();
  REQUIRE(entries.size() == 3);
  CHECK(same(entries[0].arguments[1], entries[1].arguments[0]));
  CHECK(same(entries[1].arguments[1], entries[2].arguments[0]));
  CHECK_FALSE(same(entries[0].arguments[1], entries[1].arguments[1]));
  CHECK(same(entries[2].arguments[2], Argument(84)));
}

TEST_CASE("A shape that needs more runs the default until the tuner has taken more") {
  detail::LaunchTrace::Page page{};
  detail::LaunchTrace trace(page, 1);
  const ScriptedClock clock;
  SharingApplication application(1);
  application.kernel->trace_launches(&trace, &clock, 0);
  application.adopt();
  REQUIRE(application.launch(116).ok());
  CHECK(application.kernel->class_launches() == 0);
  CHECK(page.cells[0].begun == 0);                 // nor has it begun
  CHECK(application.device.allocated == 2 * 464);  // of that launch
  application.kernel->classes().reclaim();
  CHECK(application.device.allocated == 2 * 464 + 2 * (464 + 400));
  for (const std::int64_t n : {116, 132, 196}) REQUIRE(application.launch(n).ok());
  CHECK(application.kernel->class_launches() == 3);
  CHECK(page.cells[0].begun != 0);
  // A default without a slot borrows it, too.
  REQUIRE(application.launch(96).ok());
  application.kernel->classes().reclaim();
  CHECK(application.kernel->class_launches() == 3);
  CHECK(application.device.allocated == 2 * 464 + 2 * (464 + 400));
}

TEST_CASE("A slot takes over its class's steps as soon as memory for them is there") {
  SharingApplication application(8);
  REQUIRE(application.launch(84).ok());
  REQUIRE(application.launch(116).ok());
  const ShapeSlot& small = application.slot_of(84);
  const ShapeSlot& large = application.slot_of(116);
  application.adopt();
  REQUIRE(application.launch(84).ok());
  REQUIRE(application.launch(116).ok());
  CHECK(small.current.load() == &small.of_class);
  CHECK(large.current.load() == &large.fallback);
  application.kernel->classes().reclaim();
  REQUIRE(application.launch(116).ok());
  CHECK(large.current.load() == &large.of_class);
  // What the first one took is still there for it.
  (void)application.device.take();
  REQUIRE(application.launch(84).ok());
  REQUIRE(application.launch(116).ok());
  const auto entries = application.device.take();
  REQUIRE(entries.size() == 6);
  CHECK_FALSE(same(entries[0].arguments[1], entries[3].arguments[1]));
}

TEST_CASE("Launches of a class take half of a kernel's scratch at most, and are refused no more") {
  SharingApplication application(1, 2 * 800 + 2 * 900);
  application.adopt();
  for (int i = 0; i < 3; ++i) {
    REQUIRE(application.launch(196).ok());  // 784 more for each buffer
    application.kernel->classes().reclaim();
  }
  CHECK(application.kernel->class_launches() == 0);
  CHECK(application.device.allocated == 3 * 2 * 784);  // by the launches alone
  REQUIRE(application.launch(84).ok());
  CHECK(application.kernel->class_launches() == 1);
}

TEST_CASE("Launches of a class on several queues and threads come one after the other") {
  SharingApplication application(1);
  application.adopt();
  int first = 0, second = 0;
  LaunchOptions on_first, on_second;
  on_first.queue = &first;
  on_second.queue = &second;
  REQUIRE(application.launch(84, on_first).ok());
  REQUIRE(application.launch(68, on_second).ok());
  CHECK(application.device.names() == "square increment add order square increment add ");
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        failed += !application.launch(52 + 16 * (i % 3), on_second).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  const auto entries = application.device.take();
  REQUIRE(entries.size() == 4 * 200 * 3);
  std::size_t mixed = 0;
  for (std::size_t i = 0; i < entries.size(); i += 3) {
    mixed += entries[i].what != "square" || entries[i + 1].what != "increment" ||
             entries[i + 2].what != "add";
  }
  CHECK(mixed == 0);
}

TEST_CASE("Shapes with slots and without launch on threads while the tuner takes more memory") {
  SharingApplication application(4);
  application.adopt();
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; !over; ++i) {
        if (!application.launch(52 + 16 * ((i * 7 + t) % 40)).ok()) std::abort();
      }
    });
  }
  while (application.kernel->class_launches() < 1000) {
    application.kernel->classes().reclaim();
    std::this_thread::yield();
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(application.device.allocated > 0);
}
