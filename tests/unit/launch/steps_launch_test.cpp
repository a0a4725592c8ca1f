// Launches of variants that consist of several steps.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "agent/launch/kernel_state.hpp"
#include "platform/os/mutex.hpp"
#include "tests/unit/trial/steps_kernel.hpp"

using namespace idletune;
using idletune::detail::KernelState;
using idletune::detail::ShapeSlot;
using idletune::detail::Variant;

namespace {

// Remembers what was enqueued where.
class Queues final : public idletune::Device {
 public:
  struct Entry {
    std::string what;
    void* queue = nullptr;
    std::vector<Argument> arguments;
    std::uint32_t waits = 0;
    bool event = false;
    bool profiled = false;
  };
  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    return std::unique_ptr<Program>(new Step(*this, std::string(request.entry)));
  }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    allocated += bytes;
    return std::unique_ptr<Buffer>(new Memory(bytes));
  }
  Status write(Buffer&, std::size_t, Bytes) override { return {}; }
  Status read(const Buffer&, std::size_t, MutableBytes) override { return {}; }
  Result<RunTimes> run(Program&, const Range&, Span<const Argument>, Nanoseconds) override {
    return Status(StatusCode::unsupported, "no trials here");
  }
  Status order(void* before, void* then) override {
    if (before != then) note({"order", then, {}, 0, false, false});
    return {};
  }
  Result<Nanoseconds> elapsed(void*) override { return Nanoseconds(1000); }
  void discard(void*) override { ++discarded; }
  Nanoseconds now() const override { return Nanoseconds(0); }

  std::vector<Entry> take() {
    const MutexLock lock(mutex_);
    return std::exchange(entries_, {});
  }
  std::string names() {
    std::string text;
    for (const Entry& entry : take()) text += entry.what + ' ';
    return text;
  }
  void note(Entry entry) {
    const MutexLock lock(mutex_);
    entries_.push_back(std::move(entry));
  }

  std::size_t allocated = 0;
  std::atomic<int> discarded{0};
  std::string failing;  // the entry that the driver refuses
  bool profiling = true;

 private:
  class Memory final : public Buffer {
   public:
    explicit Memory(std::size_t bytes) : bytes_(bytes) {}
    std::size_t size_bytes() const override { return bytes_; }
    Argument argument() const override { return Argument(const_cast<Memory*>(this)); }

   private:
    std::size_t bytes_;
  };
  struct Step final : public Program {
    Step(Queues& d, std::string e) : device(d), entry(std::move(e)) {}
    Status enqueue(std::uint32_t, const Range&, Span<const Argument> arguments,
                   const LaunchOptions& options, void** profile) override {
      if (entry == device.failing) return Status(StatusCode::device_error, "refused");
      if (profile != nullptr) *profile = device.profiling ? this : nullptr;
      device.note({entry, options.queue, std::vector<Argument>(arguments.begin(), arguments.end()),
                   options.wait_count, options.event != nullptr, profile != nullptr});
      return {};
    }
    Result<std::unique_ptr<Program>> another(std::string_view name) const override {
      return std::unique_ptr<Program>(new Step(device, std::string(name)));
    }
    std::uint32_t lanes() const override { return KernelState::kLanes; }
    std::uint64_t max_work_group_size() const override { return 1024; }
    std::uint64_t local_memory_bytes() const override { return 0; }
    Queues& device;
    std::string entry;
  };

  DeviceInfo info_;
  Mutex mutex_;
  std::vector<Entry> entries_ IDLETUNE_GUARDED_BY(mutex_);
};

struct StepsApplication {
  explicit StepsApplication(std::uint64_t scratch_limit_bytes = 1 << 20) {
    auto made = KernelState::create(device, fake::steps_package(), 8, scratch_limit_bytes);
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    kernel = std::move(*made);
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

bool same(const Argument& a, const Argument& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

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
  auto slot = application.kernel->slot_for({100});
  REQUIRE(slot.ok());
  CHECK(application.kernel->build(**slot, {0, 16}, Selection::tuned).code() ==
        StatusCode::out_of_memory);
  StepsApplication roomy(1600);
  slot = roomy.kernel->slot_for({100});
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
  auto slot = application.kernel->slot_for({100});
  REQUIRE(slot.ok());
  auto variant = application.kernel->build(**slot, {0, 16}, Selection::tuned);
  REQUIRE(variant.ok());
  (*slot)->current.store(variant->get());
  application.device.failing = "increment";
  CHECK(application.launch().code() == StatusCode::device_error);
  CHECK(application.device.names() == "square ");
  CHECK((*slot)->enqueue_failures.load() == 1);  // the tuner will demote it
  // Where nothing was enqueued yet, the default runs in its place. (It fails alike here.)
  application.device.failing = "square";
  CHECK(application.launch().code() == StatusCode::device_error);
  CHECK((*slot)->enqueue_failures.load() == 2);
  (*slot)->current.store(&(*slot)->fallback);
}

TEST_CASE("a sampled launch is profiled step by step, and no profile is lost") {
  StepsApplication application;
  REQUIRE(application.launch().ok());
  for (const auto& entry : application.device.take()) CHECK(entry.profiled);
  auto slot = application.kernel->slot_for({100});
  REQUIRE(slot.ok());
  CHECK((*slot)->ticket_states[0].load() == 2);
  int profiles = 0;
  for (void* profile : (*slot)->tickets[0].profiles) profiles += profile != nullptr;
  CHECK(profiles == 3);
  application.device.failing = "add";
  CHECK_FALSE(application.launch().ok());
  CHECK(application.device.discarded == 2);
}
