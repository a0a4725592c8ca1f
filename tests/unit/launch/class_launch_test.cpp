// Launches of shapes that have no variant of their own.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "agent/host/lab/scripted_clock.hpp"
#include "agent/launch/kernel_state.hpp"
#include "models/core/digest.hpp"
#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/launch/launch_only_device.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using idletune::detail::ClassVariant;
using idletune::detail::KernelState;
using idletune::test::LaunchOnlyDevice;
using idletune::test::LaunchOnlyProgram;

namespace {

const Configuration kTuned{64, 4};

std::shared_ptr<const KernelPackage> row_package() {
  KernelDescription d = test::made_kernel("rows", "kernel void rows(int n, global float* y) {}");
  d.dialect = Dialect::opencl;
  d.dimensions = {"N", "M"};
  d.parameters = {{"WG", ParameterKind::work_group, {32, 64}, 32},
                  {"WPT", ParameterKind::coarsening, {1, 4}, 1}};
  d.launch.global = {"ceil_div(N, WG * WPT) * WG", "M"};
  d.launch.local = {"WG", "1"};
  d.arguments = {test::made_dimension("n", "N"), test::made_buffer("y", "N * M")};
  return *KernelPackage::open(required(pack(d)), "rows");
}

// Knows what ran last, and what is compiled.
class Rows final : public LaunchOnlyDevice {
 public:
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    return std::unique_ptr<Program>(new Compiled(*this, std::string(request.options)));
  }
  Result<Nanoseconds> elapsed(void*) override { return Nanoseconds(1000); }

  bool profiling = false;
  bool refuse_tuned = false;
  bool refuse_all = false;
  bool last_was_tuned = false;
  Range last_range;

 private:
  struct Compiled final : LaunchOnlyProgram {
    Compiled(Rows& d, const std::string& options)
        : device(d), tuned(options.find("WG=64") != std::string::npos) {}
    Status enqueue(std::uint32_t, const Range& range, Span<const Argument>, const LaunchOptions&,
                   void** profile) override {
      if (device.refuse_all || (tuned && device.refuse_tuned))
        return Status(StatusCode::device_error, "refused");
      if (profile != nullptr && device.profiling) *profile = &device;
      device.last_was_tuned = tuned;
      device.last_range = range;
      return {};
    }
    Rows& device;
    bool tuned;
  };
};

struct RowApplication {
  explicit RowApplication(std::size_t max_shapes = 2) {
    kernel = required(KernelState::create(device, package, max_shapes));
  }
  // As the tuner would have it, adopted at the first shape and checked at all of them.
  void adopt(const std::vector<Shape>& shapes, bool kept = true) {
    auto variant = required(kernel->build(slot(shapes.front()), kTuned, Selection::tuned));
    programs = variant->programs;
    offer(shapes, kept);
  }
  void offer(const std::vector<Shape>& shapes, bool kept = true) {
    ClassVariant offered;
    offered.programs = programs;
    offered.configuration = kTuned;
    offered.adopted_at = shapes.front();
    if (kept) offered.elsewhere = ClassVariant::better;
    for (const Shape& shape : shapes) offered.classes.push_back(key(shape, kTuned));
    kernel->classes().offer({offered});
  }
  detail::ShapeSlot& slot(const Shape& shape) {
    auto found = required(kernel->slot_for(detail::TunerLock::held(), shape));
    REQUIRE(found);
    return *found;
  }
  // How many of so many launches ran what was offered.
  int launches(const Shape& shape, int count) {
    int tuned = 0;
    for (int i = 0; i < count; ++i) tuned += launch(shape);
    return tuned;
  }
  std::uint64_t key(const Shape& shape, const Configuration& c) const {
    return package->class_key(shape, c);
  }
  bool launch(const Shape& shape) {
    const Argument arguments[] = {y};
    const Status status = kernel->launch({}, shape, arguments);
    REQUIRE_MESSAGE(status.ok(), status.message());
    return device.last_was_tuned;
  }

  int memory = 0;
  void* y = &memory;
  Rows device;
  std::shared_ptr<const KernelPackage> package = row_package();
  std::shared_ptr<const trial::StepPrograms> programs;
  std::unique_ptr<KernelState> kernel;
};

}  // namespace

TEST_CASE("A shape that was never launched runs at once what was checked for its class") {
  RowApplication application;
  CHECK_FALSE(application.launch({5001, 8}));
  application.adopt({{1001, 8}});
  CHECK(application.launch({5001, 8}));  // its slot is there already
  CHECK(application.device.last_range.global[0] == 20 * 64);
  // No slot is left.
  CHECK(application.launch({7001, 9}));
  CHECK(application.device.last_range.global[0] == 28 * 64);
  CHECK(application.device.last_range.global[1] == 9);
  CHECK_FALSE(application.launch({512, 8}));   // no rest
  CHECK_FALSE(application.launch({1001, 1}));  // one row
  CHECK(application.kernel->unslotted_launches() == 3);
  CHECK(application.kernel->class_launches() == 1);
  // Nothing is offered any more.
  application.kernel->classes().offer({});
  CHECK_FALSE(application.launch({7001, 9}));
  CHECK_FALSE(application.launch({5001, 8}));
}

TEST_CASE("What is offered no more runs nowhere, and what is offered again runs where it did") {
  RowApplication application;
  application.adopt({{1001, 8}});
  CHECK(application.launch({5001, 8}));
  detail::ShapeSlot& slot = application.slot({5001, 8});
  CHECK(application.kernel->classes().run_at(slot));
  application.offer({{1001, 8}});
  CHECK(application.kernel->classes().run_at(slot));
  CHECK(application.launch({5001, 8}));
  application.kernel->classes().offer({});
  CHECK_FALSE(application.kernel->classes().run_at(slot));
  // Though a launch that began before puts it back.
  CHECK(slot.current.load() == &slot.of_class);
  CHECK_FALSE(application.launch({5001, 8}));
  slot.current.store(&slot.fallback);
  CHECK_FALSE(application.launch({5001, 8}));
  application.offer({{1001, 8}});
  CHECK(application.launch({5001, 8}));
  CHECK(application.kernel->classes().run_at(slot));
}

TEST_CASE("What lost at a shape does not run there for its class, and goes on elsewhere") {
  RowApplication application(3);
  application.adopt({{1001, 8}});
  CHECK(application.launch({5001, 8}));
  CHECK(application.launch({7001, 8}));
  detail::ShapeSlot& slot = application.slot({5001, 8});
  application.kernel->classes().lost(slot, kTuned);
  CHECK(application.kernel->classes().candidate(slot) == nullptr);
  CHECK_FALSE(application.launch({5001, 8}));
  CHECK(application.launch({7001, 8}));
  application.offer({{1001, 8}});
  CHECK_FALSE(application.launch({5001, 8}));
  // More than are remembered one by one.
  detail::ShapeSlot& other = application.slot({7001, 8});
  for (std::int64_t i = 1; i < 6; ++i) application.kernel->classes().lost(other, {i, 1});
  CHECK_FALSE(application.launch({7001, 8}));
  // A slot that comes back remembers nothing.
  detail::LaunchTable& table = application.kernel->table();
  for (detail::ShapeSlot* back : {&slot, &other}) {
    table.unlist(*back);
    back->tickets.discard(application.device);
    table.give_back(*back);
  }
  CHECK(application.launch({5001, 8}));
}

TEST_CASE("What is to be compared runs as often as is granted, and freely once it is kept") {
  RowApplication application;
  application.device.profiling = true;
  application.kernel->classes().compare(true);
  application.adopt({{1001, 8}}, false);
  CHECK(application.launches({5001, 8}, 20) == 6);
  detail::ShapeSlot& slot = application.slot({5001, 8});
  CHECK(slot.of_class.trial_launches == 6);
  slot.grant(3);
  CHECK(application.launches({5001, 8}, 20) == 3);
  application.offer({{1001, 8}}, false);
  slot.grant(2);
  CHECK(application.launches({5001, 8}, 20) == 2);
  slot.keep_class(true);
  CHECK(application.launches({5001, 8}, 20) == 20);
  CHECK(slot.of_class.trial_launches == 11);
  application.offer({{1001, 8}}, false);
  CHECK(application.launches({5001, 8}, 20) == 20);  // that stays
  slot.keep_class(false);
  CHECK(application.launches({5001, 8}, 20) == 0);
  // What was kept elsewhere is compared here all the same.
  application.offer({{1001, 8}}, true);
  CHECK(application.launches({1001, 8}, 20) == 6);
}

TEST_CASE(
    "What is to be compared is timed at once, however often the default was launched before") {
  RowApplication application;
  application.device.profiling = true;
  application.kernel->classes().compare(true);
  detail::ShapeSlot& slot = application.slot({5001, 8});
  int timed = 0;  // of its class
  const auto look = [&] {
    slot.tickets.take([&](detail::WatchTicket& ticket) {
      timed += ticket.variant == &slot.of_class;
      return true;
    });
  };
  for (int i = 0; i < 20; ++i) {
    CHECK(application.launches({5001, 8}, 3) == 0);
    look();
  }
  CHECK(slot.eager_samples == 0);
  application.adopt({{1001, 8}}, false);
  CHECK(application.launches({5001, 8}, 13) == 6);
  look();
  CHECK(timed > 0);
}

TEST_CASE("What was never compared does not run where nobody compares it") {
  RowApplication application;
  SUBCASE("since nobody looks") { application.device.profiling = true; }
  SUBCASE("since the queue tells no times") { application.kernel->classes().compare(true); }
  CHECK(application.launches({5001, 8}, 1) == 0);
  application.adopt({{1001, 8}}, false);
  CHECK(application.launches({5001, 8}, 20) == 0);
  CHECK(application.launches({7001, 8}, 20) == 0);  // without a slot
  CHECK(application.kernel->classes().candidate(application.slot({5001, 8}))->configuration ==
        kTuned);
  application.offer({{1001, 8}}, true);
  CHECK(application.launches({5001, 8}, 20) == 20);
  CHECK(application.launches({7001, 8}, 20) == 20);
}

TEST_CASE("Racers run as often as is granted, and are counted") {
  RowApplication application(1);
  application.device.profiling = true;
  detail::ShapeSlot& slot = application.slot({1001, 8});
  const auto variant = required(application.kernel->build(slot, kTuned, Selection::tuned));
  CHECK_FALSE(application.launch({1, 8}));  // without a slot
  slot.racers[0].store(variant.get());
  slot.race_turns.store(detail::LaunchTurns::pack(3, 1));
  const auto timed_launches = [&] {
    int of_racer = 0;
    for (int i = 0; i < 30; ++i) {
      of_racer += application.launches({1001, 8}, 1);
      slot.tickets.discard(application.device);
    }
    return of_racer;
  };
  CHECK(timed_launches() == 6);
  CHECK(variant->trial_launches == 6);
  slot.grant(100);
  CHECK(timed_launches() == 10);
  CHECK(variant->trial_launches == 16);
  // Nobody takes their times: no more of them come.
  CHECK(application.launches({1001, 8}, 30) == 2);
  CHECK(slot.of_class.trial_launches == 0);
  CHECK(slot.launches == 90);
  CHECK(application.kernel->unslotted_launches() == 1);
  slot.race_turns.store(0);
}

TEST_CASE("Of two variants for a class the one adopted nearer runs, and a refused one no more") {
  RowApplication application(1);
  application.adopt({{1001, 8}});
  application.device.refuse_tuned = true;
  CHECK_FALSE(application.launch({7001, 8}));  // the default instead
  application.device.refuse_tuned = false;
  CHECK_FALSE(application.launch({7001, 8}));
  application.adopt({{1001, 8}});
  CHECK(application.launch({7001, 8}));

  const auto offered = [&](const Configuration& c, const Shape& adopted_at) {
    ClassVariant variant;
    variant.configuration = c;
    variant.adopted_at = adopted_at;
    variant.classes = {application.key({7001, 8}, c)};
    return variant;
  };
  const Configuration other{32, 4};
  const detail::ClassVariants offer(1, *application.package,
                                    {offered(kTuned, {1001, 8}), offered(other, {100001, 8})});
  CHECK(offer.choose({2001, 8})->configuration == kTuned);
  CHECK(offer.choose({70001, 8})->configuration == other);
  CHECK(offer.choose({512, 8}) == nullptr);
}

TEST_CASE("What the default is refused as well costs a class nothing") {
  RowApplication application(1);
  application.adopt({{1001, 8}});
  const Argument arguments[] = {application.y};
  application.device.refuse_all = true;
  CHECK(application.kernel->launch({}, {7001, 8}, arguments).code() == StatusCode::device_error);
  application.device.refuse_all = false;
  CHECK(application.launch({7001, 8}));
}

TEST_CASE("Launches without a slot are in the log") {
  RowApplication application(1);
  const ScriptedClock clock(Nanoseconds(7));
  application.kernel->log_launches(&clock);
  (void)application.launch({1, 8});
  (void)application.launch({2, 8});
  std::uint64_t position = 0;
  detail::LaunchLog::Entry entry;
  bool lost = false;
  REQUIRE(application.kernel->launch_log().read(position, entry, lost));
  CHECK(entry.slot == application.kernel->table().at(0));
  REQUIRE(application.kernel->launch_log().read(position, entry, lost));
  CHECK(entry.slot == nullptr);
  CHECK(entry.at == Nanoseconds(7));
  CHECK_FALSE(lost);
}

TEST_CASE("What no launch has proven yet is in the trace from its first launch on") {
  detail::LaunchTrace::Page page{};
  detail::LaunchTrace trace(page, 1);
  ScriptedClock clock;
  RowApplication application(1);
  application.kernel->trace_launches(&trace, &clock, 0);
  const auto begun = [&] {
    std::size_t count = 0;
    for (const detail::LaunchTrace::Cell& cell : page.cells) count += cell.begun != 0;
    return count;
  };
  CHECK_FALSE(application.launch({5001, 8}));  // the default
  CHECK(begun() == 0);
  application.kernel->classes().offer({});
  detail::ShapeSlot& slot = application.slot({5001, 8});
  application.adopt({{5001, 8}});
  CHECK(application.launches({5001, 8}, 3) == 3);
  CHECK(begun() == 1);
  CHECK(page.cells[0].who == digest_of(kTuned));
  CHECK(page.cells[0].shape == digest_of(Shape{5001, 8}));
  SUBCASE("until a ticket of it was good") { slot.of_class.proof.prove(); }
  SUBCASE("until a launch long after") {
    clock.advance(detail::LaunchProof::kLongAgo - Nanoseconds(1));
    CHECK(application.launch({5001, 8}));
    CHECK(begun() == 1);
    clock.advance(Nanoseconds(1));
    CHECK(application.launch({5001, 8}));
  }
  SUBCASE("until a look long after") {
    application.kernel->look_at_trace();
    CHECK(begun() == 1);
    CHECK(page.looked == clock.now().count());
    clock.advance(detail::LaunchProof::kLongAgo);
    application.kernel->look_at_trace();
  }
  SUBCASE("until the slot is given back") {
    application.kernel->table().unlist(slot);
    slot.tickets.discard(application.device);
    application.kernel->table().give_back(slot);
  }
  CHECK(begun() == 0);
  (void)application.launches({5001, 8}, 3);
}

TEST_CASE("What the trace has no cell for does not run") {
  detail::LaunchTrace::Page page{};
  detail::LaunchTrace trace(page, 1);
  const ScriptedClock clock;
  RowApplication application(1);
  application.kernel->trace_launches(&trace, &clock, 0);
  application.adopt({{5001, 8}});
  for (std::uint32_t i = 0; i < detail::LaunchTrace::kCells; ++i) {
    (void)trace.begin(detail::LaunchTrace::Place::launches, 1, 1, clock.now());
  }
  CHECK_FALSE(application.launch({5001, 8}));
  CHECK_FALSE(application.slot({5001, 8}).of_class.refused);
  trace.end(17);
  CHECK(application.launch({5001, 8}));
  CHECK(page.cells[17].who == digest_of(kTuned));
}

TEST_CASE("A slot that the tuner takes back is another shape's") {
  RowApplication application(1);
  CHECK_FALSE(application.launch({1, 8}));
  detail::LaunchTable& table = application.kernel->table();
  detail::ShapeSlot* slot = table.at(0);
  REQUIRE(slot != nullptr);
  CHECK(slot->launches == 1);
  table.unlist(*slot);
  CHECK_FALSE(application.launch({1, 8}));  // without one
  CHECK(application.kernel->unslotted_launches() == 1);
  (*slot).tickets.discard(application.device);
  table.give_back(*slot);
  CHECK_FALSE(application.launch({2, 8}));
  CHECK(table.find(detail::TunerLock::held(), {2, 8}, detail::LaunchTable::hash({2, 8})).is(*slot));
  CHECK(slot->launches == 1);
  CHECK(application.kernel->unslotted_launches() == 1);
}

TEST_CASE(
    "Of a hundred thousand different shapes nearly all run what was checked for their class") {
  RowApplication application(8);
  // One shape of each class that has more than one whole tile and row.
  std::vector<Shape> probes;
  for (const std::int64_t n : {1001, 1002, 1004, 1024, 1024 + 64}) {
    for (const std::int64_t m : {2, 1}) probes.push_back({n, m});
  }
  application.adopt(probes);
  std::mt19937_64 random(11);
  std::uint64_t tuned = 0;
  for (int i = 0; i < 100000; ++i) {
    const Shape shape{512 + i, 2 + static_cast<std::int64_t>(random() % 100)};
    if (application.launch(shape)) ++tuned;
  }
  CHECK(tuned >= 99000);
  CHECK(application.kernel->class_launches() >= 99000);
  CHECK(application.kernel->table().full());
}

TEST_CASE("Threads launch new shapes while the tuner offers, withdraws and takes slots back") {
  RowApplication application(4);
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      void* y = nullptr;
      for (std::int64_t i = 0; !over; ++i) {
        const Argument arguments[] = {y};
        const Shape shape{1 + (i * 7 + t) % 5000, 8};
        if (!application.kernel->launch({}, shape, arguments).ok()) std::abort();
      }
    });
  }
  detail::LaunchTable& table = application.kernel->table();
  for (int i = 0; i < 100; ++i) {
    std::vector<ClassVariant> offered;
    application.kernel->classes().offer(std::move(offered));
    for (std::size_t s = 0; s < table.capacity(); ++s) {
      detail::ShapeSlot* slot = table.at(s);
      if (slot == nullptr) continue;
      table.unlist(*slot);
      detail::Lanes::Quiescence unused(application.kernel->lanes());
      while (!unused.reached(application.kernel->lanes())) std::this_thread::yield();
      (*slot).tickets.discard(application.device);
      table.give_back(*slot);
    }
    application.kernel->classes().reclaim();
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(application.kernel->table().capacity() == 4);
}

TEST_CASE("a launch that was not timed says nothing of the next one") {
  RowApplication application;
  const auto launch_often = [&](int times) {
    for (int i = 0; i < times; ++i) application.launch({1001, 8});
  };
  launch_often(1);
  CHECK_FALSE(application.kernel->profiling_available());  // nothing ever was
  application.device.profiling = true;
  launch_often(40);
  CHECK(application.kernel->profiling_available());
  application.device.profiling = false;
  launch_often(320);
  CHECK(application.kernel->profiling_available());
  launch_often(3200);
  CHECK_FALSE(application.kernel->profiling_available());
  application.device.profiling = true;
  launch_often(40);
  CHECK(application.kernel->profiling_available());
}
