// A stage, a step or a build ends, and what follows from that.
#pragma once

#include <cstdint>
#include <memory>

#include "agent/tuning/flight.hpp"
#include "agent/tuning/knowledge.hpp"
#include "agent/tuning/publisher.hpp"
#include "agent/tuning/shapes.hpp"

namespace idletune::detail {

class Steps : EnginePart {
 public:
  Steps(EngineCore& core, Knowledge& knowledge, Shapes& shapes, Publisher& publisher,
        Flight& flight)
      : EnginePart(core),
        knowledge_(knowledge),
        shapes_(shapes),
        publisher_(publisher),
        flight_(flight) {}

  bool finish_stage(Nanoseconds wait, IdleReport& report);
  void end_trial(ShapeTask& task, const StepResult& result, JournaledTrial& journaled,
                 std::unique_ptr<Variant> built = nullptr);
  // Takes the work off the shape, to be done again later. False: a stage of it is under way.
  bool shelve(ShapeTask& task);
  // The default was timed, or failed.
  void baseline_ended(ShapeTask& task, const StepResult& result);
  // A throttled clock slows the default down as well: both are measured again, side by side.
  void begin_recheck(ShapeTask& task);

  bool wait_for_build(Nanoseconds timeout);
  // Starts a build that is due, or the sync that it waits for. False: there is none.
  bool begin_build();
  // What an earlier session adopted for a shape is built before anything is searched there. True if
  // there was such a shape.
  bool recall_one();
  // Builds and publishes what an earlier session adopted for the shape, if that was not done yet.
  // Blocks.
  void publish_recalled(ShapeTask& task);
  // Launches what runs for the shape once, on buffers of the tuner's. Blocks.
  void launch_ahead(ShapeTask& task);
  // Launch ahead as long as something is `left` of the time for it. How many were.
  std::size_t publish_adopted(KernelTask& kernel, Nanoseconds& left);
  // What is being tried or measured for the shape waits until it is launched again.
  void shelve_trial(ShapeTask& task) {
    if (task.work.is(Work::trying) || task.work.is(Work::measuring_default)) (void)shelve(task);
  }
  // Returns when nothing of ours in this process uses the devices any more.
  void release_device();

 private:
  void end_work(ShapeTask& task);
  void follow_clock(ShapeTask& task, StepResult& result);
  void end_candidate(ShapeTask& task, TryingCandidate& trying);
  void end_recheck(ShapeTask& task, TryingCandidate& recheck);
  void settle(ShapeTask& task, JournaledTrial& journaled, bool ran);
  void judge_death(ShapeTask& task, const StageInFlight& stage, const TrialOutcome& outcome);
  void reference_ran(ShapeTask& task, const TrialOutcome& outcome);
  void make_again(ShapeTask& task, const Proposal& proposal);
  void postpone(ShapeTask& task, const StepResult& result);
  void pause(ShapeTask& task) const;
  void conclude(ShapeTask& task, const StepResult& result, JournaledTrial& journaled,
                std::unique_ptr<Variant> built);
  // Not by somebody else's doing.
  bool crash_was_seen(const ShapeTask& task, const StepResult& result) const;
  void log_step(const ShapeTask& task, const StepResult& result) const;
  void install(ShapeTask& task, const Install& install,
               std::unique_ptr<TryingCandidate> to_race = nullptr);
  journal::Serial expose(ShapeTask& task, const Configuration& configuration);
  void build_ended(Build& build);
  void build_failed(const Build& build);

  Knowledge& knowledge_;
  Shapes& shapes_;
  Publisher& publisher_;
  Flight& flight_;
  std::uint64_t steps_ended_ = 0;
};

}  // namespace idletune::detail
