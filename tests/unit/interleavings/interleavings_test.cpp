// Two launching threads and a tuner in every order up to a bound.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/launch/kernel_state.hpp"
#include "agent/launch/published_variants.hpp"
#include "agent/launch/yield.hpp"
#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/interleavings/schedules.hpp"
#include "tests/unit/launch/launch_only_device.hpp"
#include "tests/unit/package/made_kernels.hpp"

using namespace idletune;
using namespace idletune::detail;
using idletune::test::Schedules;

namespace {

Seeded seeded = Seeded::nothing;

const Configuration kTuned{64};
const Shape kFirst{1001}, kSecond{5001};  // of one class

std::shared_ptr<const KernelPackage> one_package() {
  KernelDescription d = test::made_kernel("line", "kernel void line(global float* y) {}");
  d.dialect = Dialect::opencl;
  d.parameters = {{"WG", ParameterKind::work_group, {32, 64}, 32}};
  d.launch.global = {"round_up(N, WG)"};
  d.launch.local = {"WG"};
  d.arguments = {test::made_buffer("y", "N")};
  auto bytes = pack(d);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  return *KernelPackage::open(*bytes, "line");
}

class Line final : public test::LaunchOnlyDevice {
 public:
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    const bool tuned = std::string(request.options).find("WG=64") != std::string::npos;
    return std::unique_ptr<Program>(new Compiled(tuned));
  }
  Result<Nanoseconds> elapsed(void*) override { return Nanoseconds(1000); }

 private:
  struct Compiled final : test::LaunchOnlyProgram {
    explicit Compiled(bool is_tuned) : tuned(is_tuned) {}
    Status enqueue(std::uint32_t, const Range&, Span<const Argument>, const LaunchOptions&,
                   void**) override;
    bool tuned;
  };
};

// Of the launch that a thread is in.
thread_local bool began_after_withdrawal = false;

Status Line::Compiled::enqueue(std::uint32_t, const Range&, Span<const Argument>,
                               const LaunchOptions&, void**) {
  require_that(!tuned || !began_after_withdrawal, "what was taken back before does not run");
  return {};
}

struct Played {
  explicit Played(std::size_t max_shapes) {
    static const std::shared_ptr<const KernelPackage> package = one_package();
    kernel = std::move(*KernelState::create(device, package, max_shapes));
  }
  ShapeSlot& slot(const Shape& shape) { return **kernel->slot_for(TunerLock::held(), shape); }
  // Adopted at the first shape, and offered for its class.
  void adopt() {
    ShapeSlot& at = slot(kFirst);
    variants.emplace(at, kernel->lanes());
    auto built = kernel->build(at, kTuned, Selection::tuned);
    ClassVariant offered;
    offered.programs = (*built)->programs;
    offered.configuration = kTuned;
    offered.adopted_at = kFirst;
    offered.classes = {kernel->package().class_key(kFirst, kTuned)};
    offered.elsewhere = ClassVariant::better;
    kernel->classes().offer({offered});
    variants->publish(std::move(*built));
  }
  void launch(const Shape& shape) {
    began_after_withdrawal = withdrawn && (!elsewhere || shape == kFirst);
    const Argument arguments[] = {y};
    const Status status = kernel->launch({}, shape, arguments);
    began_after_withdrawal = false;
    require_that(status.ok(), "a launch succeeds");
  }
  // As the tuner does at each look.
  void look() {
    LaunchTable& table = kernel->table();
    if (leaving != nullptr) {
      if (!quiescence->reached(kernel->lanes())) return;
      leaving->tickets.discard(kernel->device());
      table.give_back(*std::exchange(leaving, nullptr));
    }
    for (std::size_t i = 0; i < table.capacity() && leaving == nullptr; ++i) {
      ShapeSlot* one = table.at(i);
      if (one == nullptr) continue;
      const SlotRef found = table.find(TunerLock::held(), one->shape, one->hash);
      require_that(static_cast<bool>(found), "what is ready is listed");
      if (!found.is(*one) || take_back) leave(*one);
    }
  }
  void leave(ShapeSlot& one) {
    kernel->table().unlist(one);
    leaving = &one;
    quiescence.emplace(kernel->lanes());
  }
  // Looks until nothing leaves.
  void end() {
    take_back = false;
    for (int i = 0; i < 4; ++i) look();
    require_that(leaving == nullptr, "what left is given back");
    for (const Shape& shape : {kFirst, kSecond}) {
      launch(shape);
      const SlotRef found =
          kernel->table().find(TunerLock::held(), shape, LaunchTable::hash(shape));
      if (found) require_that(found->state == ShapeSlot::ready, "what is listed is ready");
    }
  }

  Line device;
  std::unique_ptr<KernelState> kernel;
  std::optional<PublishedVariants> variants;
  void* y = nullptr;
  bool withdrawn = false;
  bool elsewhere = false;  // it goes on at the second shape
  bool take_back = false;  // every slot
  ShapeSlot* leaving = nullptr;
  std::optional<Lanes::Quiescence> quiescence;
};

using Thread = std::function<void(Played&)>;

struct Scenario {
  std::size_t max_shapes;
  Thread before, first, second, tuner;
};

std::string broken_by(const Scenario& scenario, std::size_t preemptions = 3,
                      Seeded mistake = Seeded::nothing) {
  seeded = mistake;
  Schedules schedules(preemptions);
  const std::string broken = schedules.play([&] {
    auto played = std::make_shared<Played>(scenario.max_shapes);
    scenario.before(*played);
    Schedules::Round round;
    round.threads = {[=] { scenario.first(*played); }, [=] { scenario.second(*played); },
                     [=] { scenario.tuner(*played); }};
    round.end = [=] { played->end(); };
    return round;
  });
  seeded = Seeded::nothing;
  if (broken.empty()) REQUIRE(schedules.rounds() > 100);
  return broken;
}

void nothing_before(Played&) {}
void look_three_times(Played& played) {
  for (int i = 0; i < 3; ++i) played.look();
}

const Scenario kFirstLaunches{2, nothing_before, [](Played& played) { played.launch(kFirst); },
                              [](Played& played) {
                                played.launch(kFirst);
                                played.launch(kFirst);
                              },
                              look_three_times};

const Scenario kRefilled{1,
                         [](Played& played) {
                           played.launch(kFirst);
                           played.take_back = true;
                         },
                         [](Played& played) { played.launch(kFirst); },
                         [](Played& played) {
                           played.launch(kSecond);
                           played.launch(kSecond);
                         },
                         look_three_times};

const Scenario kRefuted{
    2, [](Played& played) { played.adopt(); }, [](Played& played) { played.launch(kSecond); },
    [](Played& played) {
      played.launch(kSecond);
      played.launch(kSecond);
    },
    [](Played& played) {
      played.kernel->classes().offer({});
      played.variants->publish(nullptr);
      played.withdrawn = true;
      SlotRef slot =
          played.kernel->table().find(TunerLock::held(), kSecond, LaunchTable::hash(kSecond));
      if (slot) slot->current.store(&slot->fallback);
    }};

const Scenario kDemoted{2, [](Played& played) { played.adopt(); },
                        [](Played& played) { played.launch(kFirst); },
                        [](Played& played) {
                          played.launch(kFirst);
                          played.launch(kFirst);
                        },
                        [](Played& played) {
                          played.elsewhere = true;
                          played.kernel->classes().lost(played.slot(kFirst), kTuned);
                          played.variants->publish(nullptr);
                          played.withdrawn = true;
                          for (int i = 0; i < 3; ++i) played.variants->reclaim();
                        }};

void note_captured(Played& played) {
  const test::Undivided lock;
  const Result<SlotRef> slot = played.kernel->slot_for(TunerLock::held(), kSecond);
  if (*slot) require_that((*slot)->shape == kSecond, "data are lent to their own shape");
}

// As capture() is; `keeping`: as it once was, holding neither lane nor lock.
Scenario capturing(bool keeping) {
  return {1, [](Played& played) { played.take_back = true; },
          [](Played& played) { played.launch(kFirst); },
          [keeping](Played& played) {
            if (!keeping) {
              note_captured(played);
              IDLETUNE_YIELD("copying");
              return note_captured(played);
            }
            const Result<SlotRef> slot = played.kernel->slot_for(TunerLock::held(), kSecond);
            IDLETUNE_YIELD("copying");
            if (*slot) require_that((*slot)->shape == kSecond, "data are lent to their own shape");
          },
          look_three_times};
}

}  // namespace

namespace idletune::detail {
bool is_seeded(Seeded mistake) { return seeded == mistake; }
}  // namespace idletune::detail

TEST_CASE("A shape's first launch beside the tuner's look keeps its slot") {
  CHECK(broken_by(kFirstLaunches) == "");
  CHECK(broken_by(kFirstLaunches, 1, Seeded::ready_before_listed) != "");
}

TEST_CASE("A slot that is given back and refilled is used by nobody of before") {
  CHECK(broken_by(kRefilled) == "");
}

TEST_CASE("What was refuted before a launch began does not run, whoever stood in between") {
  CHECK(broken_by(kRefuted) == "");
  CHECK(broken_by(kRefuted, 2, Seeded::stamps_not_compared) != "");
}

TEST_CASE("What lost where it was adopted does not come back for its class") {
  CHECK(broken_by(kDemoted) == "");
}

TEST_CASE("What is captured reaches its own shape, whoever gets the slot meanwhile") {
  CHECK(broken_by(capturing(false)) == "");
  CHECK(broken_by(capturing(true)) != "");
}
