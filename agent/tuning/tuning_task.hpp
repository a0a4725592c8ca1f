// What the tuner knows about each kernel and shape. Plain state; the engine (tuning_engine.hpp) is
// the only one to change it, under its lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/race.hpp>

#include "agent/danger/facts.hpp"
#include "agent/journal/entries.hpp"
#include "agent/launch/kernel_state.hpp"
#include "agent/launch/published_variants.hpp"
#include "agent/scheduler/production_watch.hpp"
#include "agent/scheduler/setup_decision.hpp"
#include "agent/trial/trial.hpp"
#include "agent/tuning/device_task.hpp"
#include "agent/tuning/in_place_trials.hpp"
#include "agent/tuning/kernel_model.hpp"
#include "agent/tuning/retrainer.hpp"
#include "agent/tuning/runner_contents.hpp"
#include "agent/tuning/shape_search.hpp"
#include "agent/tuning/shape_work.hpp"
#include "models/core/lists.hpp"

namespace idletune::detail {

struct KernelTask;

// Something that runs in the application's launches, until one of them has ended well.
struct Unproven {
  journal::Trial trial;
  Nanoseconds since{0};
  std::uint64_t launches = 0;  // of the shape, then
};

// A configuration that was measured, and lost to something that may run no more, or by so little
// that it may have been bad luck.
struct Comeback {
  Configuration configuration;
  Nanoseconds time{0};              // per launch, at today's clock; 0: it may not come back now
  std::uint64_t from_launches = 0;  // of the shape: it is not tried before
  std::uint32_t tries = 0;          // each makes it wait four times as long
  static std::uint64_t waits_after(std::uint32_t tries) {
    constexpr std::uint64_t kLaunchesBetween = 1000;
    return kLaunchesBetween << 2 * (std::clamp(tries, 1u, 16u) - 1);
  }
  // In ns per launch where `running` is what runs: what was measured, or what better luck brings,
  // which is the less likely the more often it was tried.
  static constexpr double kNear = 1.1;
  double saving(Nanoseconds running) const {
    constexpr double kLuck = 0.2;
    const double ahead = static_cast<double>((running - time).count());
    const double from_near = ahead + (kNear - 1) * static_cast<double>(running.count());
    return std::max(ahead, kLuck * from_near / (tries + 1));
  }
};

// What sessions ended on is not tried before everything else was.
enum class Unfinished : std::uint8_t { none, left_out, tried };

struct ShapeTask {
  // `subject`: what is searched for.
  ShapeTask(KernelTask& kernel_task, ShapeSlot& shape_slot, const SearchSubject& subject);

  KernelTask& kernel;
  ShapeSlot& slot;
  journal::Trial identity;     // without a configuration
  std::uint64_t captured = 0;  // digest of the arguments that it is tried on; 0: made-up ones
  bool lent = false;           // since then it was lent others

  // --- what runs now ---
  PublishedVariants variants;
  Nanoseconds running_time{0};  // per launch, as last measured; 0: unknown
  Nanoseconds default_time{0};
  // As journals keep times: by the clock of its first.
  Nanoseconds default_at_first() const { return search.evidence().as_at_first(default_time); }
  bool timed_alike = true;    // both on the same data; else the former by launches, or on others
  Nanoseconds setup_time{0};  // of what runs; 0: it has none, or unknown
  RecentTimes production;     // sampled launches of what runs now
  RecentTimes of_class;       // of what was adopted for another shape of the class
  double class_ratio = 0;     // of that to the default, when it was kept; 0: unknown
  // Per launch as the application runs it, or as last measured where no launch was sampled.
  Nanoseconds launch_time() const {
    return production.count() > 0 ? production.median() : running_time;
  }
  ProductionWatch watch;
  // What a launch of the default took when those were timed last; 0: never. Launches find other
  // caches than trials do: what one of them takes says nothing of what the other does.
  Nanoseconds untuned_launch{0};
  // What a launch saves against the default at least, by comparisons side by side on the tuner's
  // queue: for queues that tell no times.
  Nanoseconds least_saving{0};
  std::optional<Nanoseconds> compared_at;
  std::uint64_t compared_launches = 0;      // when that was
  journal::Serial adopted_by = 0;           // its classes run it once that is on the medium
  const Variant* launched_ahead = nullptr;  // by the tuner, on this shape; to be compared only

  // --- work in progress, and what it found ---
  ShapeWork work;
  std::unique_ptr<InPlaceTrials> race;  // null: there is none; goes on beside the work
  ShapeSearch search;
  // Adopted in an earlier session, not yet built in this one. Until then nothing is searched.
  std::optional<Install> recalled;
  std::vector<Proposal> postponed;  // came to no outcome of their own; made again
  std::uint32_t inconclusive = 0;   // steps in a row
  Nanoseconds rests_until{0};       // after too many of them
  std::vector<Comeback> comebacks;  // the fastest, and those that were tried
  bool look_for_comebacks = true;   // since what runs has changed
  Nanoseconds reference_run{0};     // device time of the reference; 0: unknown
  std::uint32_t misses = 0;         // gaps in a row that were too short for a stage never seen yet
  Blocker blocker = Blocker::none;  // when it was looked at last
  Nanoseconds gap_needed{0};        // by the stage that did not fit, while `blocker` is gap
  std::uint64_t passed_over = 0;    // in which run of the engine others had its turn
  std::string baseline_failure;
  bool baseline_failed = false;  // for good
  bool exhausted = false;
  Unfinished unfinished = Unfinished::none;
  bool class_hinted = false;  // what ran for its class was proposed

  // --- accounts ---
  double said_launches = -1;         // by the application; negative: it did not say
  std::uint64_t said_at = 0;         // launches when it said so
  std::uint64_t past_launches = 0;   // of earlier sessions
  std::uint64_t noted_launches = 0;  // in the statistics
  std::uint64_t credited_launches = 0;
  Nanoseconds class_time{0};              // of a launch since then, where all run for their class
  std::uint32_t setups_charged = 0;       // of what runs
  std::uint64_t credited_unprepared = 0;  // of those, that ran the default for want of a setup
  std::uint64_t launches_looked_at = 0;   // when unused slots were looked for
  std::uint32_t unused_looks = 0;         // in a row
  bool shelve_due = false;                // what is being tried keeps a slot that others miss
  Nanoseconds first_seen{0};
  Nanoseconds tuning_wall{0};
  Nanoseconds charged{0};
  std::uint32_t leases = 0;  // TaskLease
  std::vector<Unproven> unproven;
  // The launch from which on what runs, adopted or for its class, is compared with the default in
  // launches (0: by what clock the default was timed nobody knows), and how many were let pass.
  static constexpr std::uint64_t kFirstDuel = 128;
  std::uint64_t duel_at = 0, duel_interval = kFirstDuel / 4;
  void defer_duel();

  // The configuration may not be tried again for some launches, four times as many each time. How
  // often it lost.
  std::uint32_t lost_again(const Configuration& configuration);

  // The default and what runs were timed anew, by another clock than before, maybe.
  void timed_anew(Nanoseconds untuned, Nanoseconds tuned);
  void watch_anew();

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
  FactSubject facts() const;
  journal::Trial trial(const Configuration& configuration) const {
    journal::Trial trial = identity;
    trial.configuration = configuration;
    return trial;
  }
  // Whether launches run what was adopted for another shape of the class.
  bool runs_for_class() const;
  std::uint64_t launches() const { return slot.launches.load(std::memory_order_relaxed); }
};

// Keeps a task while something runs that may give slots back. Under the tuner's lock.
class TaskLease {
 public:
  explicit TaskLease(ShapeTask& task) : task_(task) { ++task_.leases; }
  ~TaskLease() { --task_.leases; }
  TaskLease(const TaskLease&) = delete;
  TaskLease& operator=(const TaskLease&) = delete;

 private:
  ShapeTask& task_;
};

// What ClassOffers::audit tells.
struct AuditTimes {
  RecentTimes of_variant, of_default;
  std::uint64_t uncharged = 0;  // launches of the variant
  std::uint64_t rounds = 0;
  std::uint64_t launches = 0;     // that there were at the last look
  Nanoseconds last_launch{0};     // when there was one, and
  std::uint64_t last_number = 0;  // how many without a slot there were
};

struct KernelTask {
  std::unique_ptr<KernelState> state;
  DeviceTask* device = nullptr;              // of the engine
  std::shared_ptr<const KernelModel> model;  // null: none, or it does not know the kernel
  std::unique_ptr<Retrainer> retrainer;      // of the model; null: the application wants none
  std::string model_refused;                 // why it does not, though it has a kernel of the name
  std::unique_ptr<TrialRunner> runner;       // made when first needed
  Nanoseconds runner_used{0};                // when it was handed something last
  Status runner_status;
  std::uint32_t runner_failures = 0;  // in a row
  RunnerContents contents;            // of the runner
  InPlaceOptions in_place;
  // The application makes calls of its own: its trials time nothing, and candidates go straight to a
  // race in them.
  bool called = false;
  std::vector<std::unique_ptr<ShapeTask>> shapes;
  std::size_t slots_seen = 0;
  // Digests: won and lost against the default where they were not adopted.
  std::vector<std::uint64_t> good_for_classes, slow_for_classes;
  AuditTimes audit;
  std::uint64_t facts_followed = 0;  // the version of the facts that launches follow
  journal::Serial offers_wait_for = 0;
  std::list<ShapeSlot*> leaving;  // slots that no lookup finds any more
  std::optional<Lanes::Quiescence> since_leaving;
  Nanoseconds looked_for_unused{0};
  std::uint64_t unslotted_looked_at = 0;
  StageEstimates compile_estimates;  // handed on to new shapes

  FactSubject facts() const { return {state->package(), state->device().info()}; }
  // Where trials are made, as far as is known.
  Where trial_place() const {
    return runner == nullptr || runner->isolated() ? Where::helper : Where::here;
  }
  bool can_tune() const { return runner_status.ok() && !device->ended(); }
};

inline ShapeTask::ShapeTask(KernelTask& kernel_task, ShapeSlot& shape_slot,
                            const SearchSubject& subject)
    : kernel(kernel_task),
      slot(shape_slot),
      variants(shape_slot, kernel_task.state->lanes()),
      search(subject, kernel_task.model) {}
inline bool ShapeTask::runs_for_class() const { return kernel.state->classes().run_at(slot); }
inline FactSubject ShapeTask::facts() const { return kernel.facts(); }

}  // namespace idletune::detail
