// Launches of shapes that have no variant of their own.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "agent/launch/kernel_state.hpp"
#include "models/package/pack.hpp"
#include "tests/unit/launch/launch_only_device.hpp"

using namespace idletune;
using idletune::detail::ClassVariant;
using idletune::detail::KernelState;
using idletune::test::LaunchOnlyDevice;
using idletune::test::LaunchOnlyProgram;

namespace {

const Configuration kTuned{64, 4};

std::shared_ptr<const KernelPackage> row_package() {
  KernelDescription d;
  d.name = "rows";
  d.source = "kernel void rows(int n, global float* y) {}";
  d.entry = "rows";
  d.dialect = Dialect::opencl;
  d.dimensions = {"N", "M"};
  d.parameters = {{"WG", ParameterKind::work_group, {32, 64}, 32},
                  {"WPT", ParameterKind::coarsening, {1, 4}, 1}};
  d.launch.global = {"ceil_div(N, WG * WPT) * WG", "M"};
  d.launch.local = {"WG", "1"};
  DescribedArgument n, y;
  n.name = "n", n.kind = ArgumentKind::dimension, n.type = ScalarType::i32, n.size = "N";
  y.name = "y", y.size = "N * M";
  d.arguments = {n, y};
  auto bytes = pack(d);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  return *KernelPackage::open(*bytes, "rows");
}

// Knows what ran last, and what is compiled.
class Rows final : public LaunchOnlyDevice {
 public:
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    return std::unique_ptr<Program>(new Compiled(*this, std::string(request.options)));
  }
  Result<Nanoseconds> elapsed(void*) override { return Nanoseconds(1000); }

  bool refuse_tuned = false;
  bool last_was_tuned = false;
  Range last_range;

 private:
  struct Compiled final : LaunchOnlyProgram {
    Compiled(Rows& d, const std::string& options)
        : device(d), tuned(options.find("WG=64") != std::string::npos) {}
    Status enqueue(std::uint32_t, const Range& range, Span<const Argument>, const LaunchOptions&,
                   void**) override {
      if (tuned && device.refuse_tuned) return Status(StatusCode::device_error, "refused");
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
    auto made = KernelState::create(device, package, max_shapes);
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    kernel = std::move(*made);
  }
  // As the tuner would have it, adopted at the first shape and checked at all of them.
  void adopt(const std::vector<Shape>& shapes) {
    auto slot = kernel->slot_for(shapes.front());
    REQUIRE(slot.ok());
    auto variant = kernel->build(**slot, kTuned, Selection::tuned);
    REQUIRE(variant.ok());
    ClassVariant offered{(*variant)->programs, kTuned, shapes.front(), {}, {}};
    for (const Shape& shape : shapes) offered.classes.push_back(key(shape, kTuned));
    kernel->offer_for_classes({offered});
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
  // Nothing is offered any more: slots keep what they took until the tuner takes it back.
  application.kernel->offer_for_classes({});
  CHECK_FALSE(application.launch({7001, 9}));
  CHECK(application.launch({5001, 8}));
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
    return ClassVariant{nullptr, c, adopted_at, {application.key({7001, 8}, c)}, {}};
  };
  const Configuration other{32, 4};
  const detail::ClassVariants offer(1, *application.package,
                                    {offered(kTuned, {1001, 8}), offered(other, {100001, 8})});
  CHECK(offer.choose({2001, 8})->configuration == kTuned);
  CHECK(offer.choose({70001, 8})->configuration == other);
  CHECK(offer.choose({512, 8}) == nullptr);
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
  application.kernel->discard_tickets(*slot);
  table.give_back(*slot);
  CHECK_FALSE(application.launch({2, 8}));
  CHECK(table.find({2, 8}, detail::LaunchTable::hash({2, 8})) == slot);
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
  for (int i = 0; i < 300; ++i) {
    std::vector<ClassVariant> offered;
    application.kernel->offer_for_classes(std::move(offered));
    for (std::size_t s = 0; s < table.capacity(); ++s) {
      detail::ShapeSlot* slot = table.at(s);
      if (slot == nullptr) continue;
      table.unlist(*slot);
      detail::Lanes::Quiescence unused(application.kernel->lanes());
      while (!unused.reached(application.kernel->lanes())) std::this_thread::yield();
      application.kernel->discard_tickets(*slot);
      table.give_back(*slot);
    }
    application.kernel->reclaim();
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(application.kernel->table().capacity() == 4);
}
