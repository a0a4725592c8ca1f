// What the tuner knows about each kernel and shape. Plain state; the engine (tuning_engine.hpp) is
// the only one to change it, under its lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>

#include "agent/journal/entries.hpp"
#include "agent/launch/kernel_state.hpp"
#include "agent/launch/published_variants.hpp"
#include "agent/scheduler/production_watch.hpp"
#include "agent/scheduler/setup_decision.hpp"
#include "agent/trial/trial.hpp"
#include "agent/tuning/device_task.hpp"
#include "agent/tuning/in_place_race.hpp"
#include "agent/tuning/kernel_model.hpp"
#include "agent/tuning/recent_times.hpp"
#include "agent/tuning/retrainer.hpp"
#include "agent/tuning/runner_contents.hpp"
#include "agent/tuning/shape_search.hpp"
#include "agent/tuning/shape_work.hpp"

namespace idletune::detail {

struct KernelTask;

// A configuration on its way to the launches.
struct Install {
  Configuration configuration;
  Selection selection = Selection::tuned;
  Nanoseconds time{0};        // expected per launch
  bool recalled = false;      // an earlier session adopted it
  Nanoseconds least_gain{0};  // per launch against what runs, of comparisons side by side
  Nanoseconds setup{0};       // of the configuration; 0: none, or not known any more
};

// Candidates that passed their checks and are timed by the application's launches; the i-th of each
// is the i-th of PublishedVariants.
struct Race {
  InPlaceRace times;
  std::array<std::unique_ptr<TryingCandidate>, InPlaceRace::kCandidates> trials;
};

struct ShapeTask {
  ShapeTask(KernelTask& kernel_task, ShapeSlot& shape_slot, const Lanes& lanes,
            ShapeSearch shape_search)
      : kernel(kernel_task),
        slot(shape_slot),
        variants(shape_slot, lanes),
        search(std::move(shape_search)) {}

  KernelTask& kernel;
  ShapeSlot& slot;
  journal::Trial identity;     // without a configuration
  std::uint64_t captured = 0;  // digest of the arguments that it is tried on; 0: made-up ones
  bool lent = false;           // since then it was lent others

  // --- what runs now ---
  PublishedVariants variants;
  Nanoseconds running_time{0};  // per launch, as last measured; 0: unknown
  Nanoseconds default_time{0};
  Nanoseconds setup_time{0};  // of what runs; 0: it has none, or unknown
  RecentTimes production;     // sampled launches of what runs now
  // Per launch as the application runs it, or as last measured where no launch was sampled.
  Nanoseconds launch_time() const {
    return production.count() > 0 ? production.median() : running_time;
  }
  ProductionWatch watch;
  // What a launch saves against the default at least, by comparisons side by side on the tuner's
  // queue: for queues that tell no times.
  Nanoseconds least_saving{0};
  std::optional<Nanoseconds> compared_at;
  const Variant* launched_ahead = nullptr;  // by the tuner, on this shape; to be compared only

  // --- work in progress, and what it found ---
  ShapeWork work;
  std::unique_ptr<Race> race;  // null: there is none; goes on beside the work
  ShapeSearch search;
  // Adopted in an earlier session, not yet built in this one. Until then nothing is searched.
  std::optional<Install> recalled;
  std::vector<Configuration> suspects_tried;  // once per process, however that ended
  Nanoseconds reference_run{0};               // device time of the reference; 0: unknown
  std::uint32_t misses = 0;         // gaps in a row that were too short for a stage never seen yet
  Blocker blocker = Blocker::none;  // when it was looked at last
  Nanoseconds gap_needed{0};        // by the stage that did not fit, while `blocker` is gap
  std::uint32_t baseline_failures = 0;
  bool baseline_failed = false;  // for good
  bool exhausted = false;
  bool class_hinted = false;  // what ran for its class was proposed

  // --- accounts ---
  double said_launches = -1;        // by the application; negative: it did not say
  std::uint64_t said_at = 0;        // launches when it said so
  std::uint64_t past_launches = 0;  // of earlier sessions
  std::uint32_t past_sessions = 0;
  std::uint64_t past_active_seconds = 0;
  std::uint64_t credited_launches = 0;
  std::uint64_t credited_unprepared = 0;  // of those, that ran the default for want of a setup
  std::uint64_t launches_looked_at = 0;   // when unused slots were looked for
  std::uint32_t unused_looks = 0;         // in a row
  Nanoseconds first_seen{0};
  Nanoseconds tuning_wall{0};
  Nanoseconds charged{0};

  const Configuration& running() const { return variants.running().configuration; }
  // Null where what was adopted has no setup, or nothing was.
  VariantScratch* setup() const {
    const Variant* variant = variants.adopted();
    return variant != nullptr && !variant->plan.setup().empty() ? variant->scratch : nullptr;
  }
  SetupPrice setup_price() const {
    // A journal that lost what it takes.
    constexpr int kUnknownRuns = 100;
    return {setup_time.count() > 0 ? setup_time : kUnknownRuns * default_time, default_time,
            running_time};
  }
  // Whether launches run what was adopted for another shape of the class.
  bool runs_for_class() const {
    return slot.current.load(std::memory_order_acquire) == &slot.of_class;
  }
  std::uint64_t launches() const { return slot.launches.load(std::memory_order_relaxed); }
};

// A class of shapes, and what the checks of a configuration said at one of them.
struct CheckedClass {
  CheckedClass(const KernelPackage& package, const Configuration& values, const Shape& shape,
               bool passed = true);
  std::uint64_t configuration;  // digest
  std::uint64_t key;            // KernelPackage::class_key
  bool right;
};

struct KernelTask {
  std::unique_ptr<KernelState> state;
  DeviceTask* device = nullptr;              // of the engine
  std::shared_ptr<const KernelModel> model;  // null: none, or it does not know the kernel
  std::unique_ptr<Retrainer> retrainer;      // of the model; null: the application wants none
  std::string model_refused;                 // why it does not, though it has a kernel of the name
  std::unique_ptr<TrialRunner> runner;       // made when first needed
  Status runner_status;
  RunnerContents contents;  // of the runner
  InPlaceOptions in_place;
  std::vector<std::unique_ptr<ShapeTask>> shapes;
  std::size_t slots_seen = 0;
  std::vector<CheckedClass> checked_classes;
  const CheckedClass* known(const CheckedClass& wanted) const;  // null: not checked
  bool classes_fail = false;                                    // one was right and wrong
  std::vector<ShapeSlot*> leaving;  // slots that no lookup finds any more
  std::optional<Lanes::Quiescence> since_leaving;
  Nanoseconds looked_for_unused{0};
  std::uint64_t unslotted_looked_at = 0;
  StageEstimates compile_estimates;  // handed on to new shapes

  bool can_tune() const { return runner_status.ok() && !device->ended(); }
};

}  // namespace idletune::detail
