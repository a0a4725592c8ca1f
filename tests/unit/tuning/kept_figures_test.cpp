// What is counted goes on after a restart where it stood.
#include <chrono>
#include <cstdint>
#include <memory>

#include "agent/journal/summary.hpp"
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

std::uint64_t statistics_of(PlayedEngine& engine) {
  return engine.task().identity.kernel ^ engine.task().identity.device;
}

}  // namespace

TEST_CASE("the account goes on after a restart where it stood") {
  const auto disk = std::make_shared<Disk>();
  double charged = 0;
  {
    const auto board = board_that();
    PlayedEngine engine(*board, disk);
    engine.play(100, 50, 1s);
    charged = engine.engine->status().charged_seconds;
    REQUIRE(charged > 0);
    engine.engine->note(true);
    engine.engine.reset();
    REQUIRE(engine.journal->shutdown().ok());
  }
  const auto board = board_that();
  PlayedEngine engine(*board, disk);
  CHECK(engine.engine->status().charged_seconds == doctest::Approx(charged));
}

TEST_CASE("launches since the last look are in the account that is kept") {
  const auto disk = std::make_shared<Disk>();
  const auto board = board_that();
  PlayedEngine engine(*board, disk);
  engine.play(100, 50, 1s);
  const Nanoseconds time = engine.journal->state().ledger().kernel_time;
  REQUIRE(engine.launch({64}, 1000).ok());
  SUBCASE("by a flush") { engine.engine->note(true); }
  SUBCASE("at the end") { engine.engine.reset(); }
  CHECK(engine.journal->state().ledger().kernel_time - time > 1000 * 1us);
}

TEST_CASE("what a shape's sessions launched adds up over restarts") {
  const auto disk = std::make_shared<Disk>();
  for (std::uint32_t session = 1; session <= 3; ++session) {
    const auto board = board_that();
    PlayedEngine engine(*board, disk);
    engine.play(20, 50, 1s);
    engine.engine->note(true);
    const auto past = engine.journal->state().shape_statistics(statistics_of(engine), Shape{64});
    REQUIRE(past);
    CHECK(past->launches == 1000 * session);
    engine.engine.reset();
    REQUIRE(engine.journal->shutdown().ok());
  }
}

TEST_CASE("a flush keeps the account and the launches, whatever was written a moment ago") {
  const auto disk = std::make_shared<Disk>();
  const auto board = board_that();
  PlayedEngine engine(*board, disk, {}, 1, detail::BuildThread::worker);
  engine.play(20, 50, 100ms);
  engine.engine->note(true);
  const auto kept = journal::read_journal(disk->files().at(journal::kJournalName));
  REQUIRE(kept.ok());
  const double kernel = engine.engine->status().kernel_seconds;
  CHECK(std::chrono::duration<double>(kept->state.ledger().kernel_time).count() ==
        doctest::Approx(kernel));
  CHECK(kernel > 0);
  REQUIRE(kept->state.shape_statistics(statistics_of(engine), Shape{64}));
  CHECK(kept->state.shape_statistics(statistics_of(engine), Shape{64})->launches == 1000);
}

TEST_CASE("launches of a shape add up over a device's kernel objects, apart from other devices'") {
  const auto board = board_that();
  const auto disk = std::make_shared<Disk>();
  const auto package = required(KernelPackage::open(test::played_package(), "played"));
  fake::Device second;
  second.device_info = board->device.device_info;
  second.device_info.name = "other";
  second.kernels = board->device.kernels;
  second.launch_script = board->device.launch_script;
  {
    PlayedEngine engine(*board, disk);
    auto x = required(second.allocate(4096 * sizeof(float)));
    const Argument arguments[] = {x->argument()};
    REQUIRE(engine.launch({64}, 1000).ok());
    for (fake::Device* device : {&second, &board->device}) {
      auto state = required(detail::KernelState::create(*device, package, 4));
      detail::KernelTask& other = engine.engine->add_kernel(std::move(state), nullptr);
      for (int i = 0; i < 3; ++i)
        REQUIRE(other.state->launch(LaunchOptions{}, Shape{64}, arguments).ok());
      (void)engine.idle(1ms);
    }
    engine.engine->note(true);
    engine.engine.reset();
    REQUIRE(engine.journal->shutdown().ok());
  }
  PlayedEngine again(*board, disk);
  CHECK(again.task().past_launches == 1003);
}

TEST_CASE("a slot that is waited for in vain makes room after some minutes") {
  AgentOptions options;
  options.max_shapes = 1;
  const auto board = board_that([](const Configuration& configuration) -> RecordedTrial {
    return {TrialStatus::correct, configuration == Configuration{1, 1} ? 1000us : 1200us, 20ms};
  });
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  engine.kernel->state->expect_launches({64}, 1e6);
  REQUIRE(engine.launch({64}).ok());
  const auto unslotted_after = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      REQUIRE(engine.launch({128}, 10).ok());
      engine.idle_through(1s);
    }
    return engine.kernel->state->unslotted_launches();
  };
  CHECK(unslotted_after(120) == 1200);
  CHECK(unslotted_after(600) < 4000);
}

TEST_CASE("launches that an earlier version counted, by the kernel alone, are not forgotten") {
  const auto board = board_that();
  const auto disk = std::make_shared<Disk>();
  {
    PlayedEngine engine(*board, disk);
    journal::ShapeStatistics statistics;
    statistics.kernel = engine.task().identity.kernel;
    statistics.shape = Shape{64};
    statistics.launches = 77;
    engine.journal->note_shape(statistics, Nanoseconds(0));
    engine.engine.reset();
    REQUIRE(engine.journal->shutdown().ok());
  }
  PlayedEngine again(*board, disk);
  CHECK(again.task().past_launches == 77);
}
