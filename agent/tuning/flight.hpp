// What is under way: a stage in the trial runner, a build for launches or an errand on the worker.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <idletune/agent.hpp>

#include "agent/tuning/engine_core.hpp"
#include "agent/tuning/stage_in_flight.hpp"
#include "agent/tuning/worker.hpp"

namespace idletune::detail {

class Flight : EnginePart {
 public:
  explicit Flight(EngineCore& core)
      : EnginePart(core),
        worker_("idletune-build", core.surroundings_),
        files_("idletune-files", core.surroundings_) {}

  enum class Next : std::uint8_t {
    started,
    soon,
    does_not_fit,
    compiled_enough,
    forbidden,  // what comes next may not run any more
    nothing
  };
  // Starts the next stage of the shape's work, if it fits.
  Next start_stage(ShapeTask& task, TimeSource source, Nanoseconds remaining, IdleReport& report);
  static const char* why_not(Next next);
  // The stage that ended within `wait`; null: it runs on, or there is none.
  std::unique_ptr<StageInFlight> landed(Nanoseconds wait, TrialOutcome& outcome);
  // What a stage's death made of it is on record only once that is written.
  void keep_traced(StageInFlight& stage) { died_ = stage.take_handed(); }
  // Whether the stage is made again after a pause.
  bool is_to_be_repeated(ShapeTask& task, const TrialOutcome& outcome);
  // The caller's gap is over, with a stage or a trial half done; or it was none, but a look.
  void gap_ends(bool was_gap);
  // The stage that the end of the process cuts short has kept launches waiting all the same.
  void charge_unended();
  bool flies() const { return in_flight_ != nullptr; }
  const StageInFlight& stage() const { return *in_flight_; }
  bool ensure_runner(KernelTask& kernel);
  // Reaps helpers that have died, and ends one that was handed nothing for a minute.
  void look_after_runners();

  // Building needs the processor only (the first launch, on a small shape, holds the device for
  // microseconds), so it may outlive the gap.
  void build(std::unique_ptr<Build> build);
  bool builds() const { return build_ != nullptr; }
  const Build& built() const { return *build_; }
  // The build, if it ends within `timeout`; else null.
  std::unique_ptr<Build> take_build(Nanoseconds timeout);
  void build_for_launches(Build& build) const;
  Status launch_once(KernelTask& kernel, const trial::StepPrograms& programs, const Shape& shape,
                     const Configuration& configuration, std::uint64_t scratch_bytes);
  // Where the default was measured and nothing better was found. How many were launched.
  std::size_t launch_known_defaults(KernelTask& kernel, Nanoseconds left);
  void launch_default_small(KernelTask& kernel);

  // Has `work` done on the worker's thread, where that rests, else here.
  void run_errand(std::function<void()> work);
  bool errands() const { return errand_ || write_ != nullptr; }
  bool wait_for_errand(Nanoseconds timeout);
  // What was recorded goes to the storage, beside builds.
  void begin_write();
  void end_write();
  bool worker_rests() const { return !builds() && !errands(); }

  // Whether a build or a stage of ours uses the application's device object from another thread.
  bool device_is_used(const KernelTask& kernel) const;
  bool holds(const ShapeTask& task) const {
    return (flies() && &in_flight_->task() == &task) || (builds() && build_->task == &task);
  }
  // How long to wait for what is under way.
  Nanoseconds wait_for_stage(TimeSource source, Nanoseconds remaining) const;
  Nanoseconds wait_for_compiler(const ShapeTask& task, Nanoseconds started, TimeSource source,
                                Nanoseconds remaining) const;

 private:
  void end_runner(KernelTask& kernel);
  void runner_failed(KernelTask& kernel, const Status& status);
  Next fit(ShapeTask& task, TrialRequest& request, TimeSource source, Nanoseconds remaining,
           bool announced, IdleReport& report);
  Nanoseconds sync_takes() const;
  Next hand_over(ShapeTask& task, TrialRequest& request, TimeSource source,
                 JournaledTrial* journaled);
  void learn_from(ShapeTask& task, const StageInFlight& stage, const TrialOutcome& outcome);

  std::unique_ptr<StageInFlight> in_flight_;  // null: none
  HandedOver died_;
  Worker worker_;
  Worker files_;
  std::unique_ptr<Build> build_;  // the worker's, until take_build(); null: none is under way
  bool errand_ = false;           // of the worker's, until wait_for_errand(); never beside a build
  std::unique_ptr<journal::JournalWrite> write_;  // that of `files_`; null: it rests
  Nanoseconds write_took_{0};                     // that of `files_`, until end_write()
  Nanoseconds longest_sync_{0}, longest_sync_at_{0};
};

}  // namespace idletune::detail
