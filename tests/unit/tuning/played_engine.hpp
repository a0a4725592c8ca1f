// The tuning engine alone on a played board, with its journal on a disk in memory.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <utility>

#include "agent/journal/journal.hpp"
#include "agent/tuning/tuning_engine.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/journal/faulty_storage.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

// Declare the board first: it outlives the engine. One kernel ("play") is loaded.
class PlayedEngine {
 public:
  explicit PlayedEngine(PlayedBoard& board, std::shared_ptr<Disk> disk = std::make_shared<Disk>(),
                        const AgentOptions& engine_options = {}, std::uint64_t boot = 1,
                        detail::BuildThread builds = detail::BuildThread::caller)
      : options(engine_options), board_(board), surroundings_(board.surroundings()) {
    surroundings_.builds = builds;
    journal::JournalOptions journal_options;
    journal_options.boot = boot;
    journal = journal::Journal::open(open_faulty_storage(std::move(disk)), journal_options);
    engine.emplace(options, *journal, surroundings_);
    auto package = required(KernelPackage::open(played_package(), "played"));
    auto state = required(detail::KernelState::create(board.device, package, options.max_shapes));
    kernel = &engine->add_kernel(std::move(state), nullptr);
    x_ = std::move(*board.device.allocate(4096 * sizeof(float)));
  }

  void use_model(const std::shared_ptr<const Model>& model) { engine->use_model(model); }
  Status launch(const Shape& shape = {64}, int times = 1) {
    const Argument arguments[] = {x_->argument()};
    Status status;
    for (int i = 0; i < times && status.ok(); ++i)
      status = kernel->state->launch(LaunchOptions{}, shape, arguments);
    return status;
  }
  IdleReport idle(Nanoseconds budget) { return engine->run(budget, detail::TimeSource::idle); }
  IdleReport tune(Nanoseconds budget) {
    return engine->run(budget, detail::TimeSource::foreground);
  }
  // A gap that lasts, whether it is used or not.
  void idle_through(Nanoseconds gap) {
    const Nanoseconds end = board_.clock.now() + gap;
    (void)idle(gap);
    board_.clock.advance(end - board_.clock.now());
  }
  // Launches and gaps in turn.
  void play(int frames, int launches, Nanoseconds gap) {
    for (int i = 0; i < frames; ++i) {
      REQUIRE(launch({64}, launches).ok());
      idle_through(gap);
    }
  }

  detail::ShapeTask& task(const Shape& shape = {64}) {
    auto slot = required(kernel->state->slot_for(detail::TunerLock::held(), shape));
    detail::ShapeTask* found = engine->shape_task(*kernel, *slot);
    REQUIRE(found != nullptr);
    return *found;
  }
  Explanation explain(const Shape& shape = {64}) { return engine->explain(task(shape)); }
  // Of a configuration at the shape {64}.
  journal::TrialKey key_of(const Configuration& configuration) {
    journal::Trial trial = task().identity;
    trial.configuration = configuration;
    return trial.key();
  }

  const AgentOptions options;
  std::unique_ptr<journal::Journal> journal;
  std::optional<detail::TuningEngine> engine;
  detail::KernelTask* kernel = nullptr;

 private:
  PlayedBoard& board_;
  detail::Surroundings surroundings_;
  std::unique_ptr<Buffer> x_;
};

}  // namespace idletune::test
