// What the tuner knows about each kernel and shape. Plain state; the engine (tuning_engine.hpp) is
// the only one to change it, under its lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <idletune/agent.hpp>

#include "agent/journal/entries.hpp"
#include "agent/launch/kernel_state.hpp"
#include "agent/scheduler/amortization.hpp"
#include "agent/scheduler/production_watch.hpp"
#include "agent/scheduler/stage_estimates.hpp"
#include "agent/scheduler/step_plan.hpp"
#include "agent/search/searcher.hpp"
#include "agent/trial/trial.hpp"
#include "agent/tuning/device_task.hpp"
#include "agent/tuning/in_place_trial.hpp"
#include "agent/tuning/recent_times.hpp"
#include "agent/tuning/shape_evidence.hpp"
#include "models/predict/model.hpp"

namespace idletune::detail {

struct KernelTask;

// What a model says about a kernel. Shared by those that were set up with it: an earlier model
// lives until the last of them has gone over to the next.
struct KernelModel {
  std::shared_ptr<const Model> model;  // keeps `knowledge` alive
  const KernelKnowledge* knowledge = nullptr;
  KernelQuantiles quantiles;  // of relative performance, mixture of all sources

  // Null if the model (which may be null) does not know the kernel.
  static std::shared_ptr<const KernelModel> of(const std::shared_ptr<const Model>& model,
                                               const KernelPackage& package);
};

// A configuration on its way to the launches.
struct Install {
  Configuration configuration;
  Selection selection = Selection::tuned;
  Nanoseconds time{0};    // expected per launch
  bool recalled = false;  // an earlier session adopted it
};

struct ShapeTask {
  ShapeTask(KernelTask& kernel_task, ShapeSlot& shape_slot)
      : kernel(kernel_task), slot(shape_slot) {}

  KernelTask& kernel;
  ShapeSlot& slot;
  journal::Trial identity;  // without a configuration

  // --- what runs now ---
  std::unique_ptr<Variant> variant;               // null: the slot's fallback
  std::vector<std::unique_ptr<Variant>> retired;  // no longer published, maybe still being launched
  std::optional<Lanes::Quiescence> quiescence;    // of the retired ones
  Nanoseconds running_time{0};                    // per launch, as last measured; 0: unknown
  Nanoseconds default_time{0};
  Nanoseconds first_pick_time{0};
  RecentTimes production;  // sampled launches of what runs now
  ProductionWatch watch;

  // --- work in progress: at most one of them ---
  std::optional<ReferenceBaseline> baseline;
  std::optional<CandidateTrial> trial;
  std::optional<InPlaceTrial> in_place;
  Proposal proposal;        // of `trial` or `in_place`
  bool rechecking = false;  // `trial` compares what runs now with the default
  std::uint32_t recheck_rounds = 0;
  bool intent_open = false;            // the journal holds an intent of the proposal
  bool intent_to_run = false;          // ... for its run
  bool death_is_ambiguous = false;     // the helper died of it, or was killed by somebody
  std::unique_ptr<Variant> candidate;  // in-place: built, being timed by launches
  std::optional<Install> install;      // accepted; is being built and then published

  // --- what was learned here ---
  std::shared_ptr<const KernelModel> model;  // that searcher and evidence were set up with
  std::unique_ptr<Searcher> searcher;
  // Adopted in an earlier session, not yet built in this one. Until then nothing is searched.
  std::optional<Install> recalled;
  std::vector<Configuration> hints;           // adopted under another driver: tried first
  std::vector<Configuration> suspects_tried;  // once per process, however that ended
  ShapeEvidence evidence;
  Nanoseconds reference_run{0};  // device time of the reference; 0: unknown
  std::uint32_t misses = 0;      // gaps in a row that were too short for a stage never seen yet
  StageEstimates estimates;
  bool baseline_failed = false;
  bool exhausted = false;
  Decision decision;
  bool decided = false;

  // --- accounts ---
  double said_launches = -1;        // by the application; negative: it did not say
  std::uint64_t said_at = 0;        // launches when it said so
  std::uint64_t past_launches = 0;  // of earlier sessions
  std::uint32_t past_sessions = 0;
  std::uint64_t past_active_seconds = 0;
  std::uint64_t credited_launches = 0;
  Nanoseconds first_seen{0};
  Nanoseconds tuning_wall{0};
  Nanoseconds charged{0};

  const Configuration& running() const {
    return variant ? variant->configuration : slot.fallback.configuration;
  }
  Selection selection() const { return variant ? variant->selection : Selection::fallback; }
  std::uint64_t launches() const { return slot.launches.load(std::memory_order_relaxed); }
};

struct KernelTask {
  std::unique_ptr<KernelState> state;
  DeviceTask* device = nullptr;              // of the engine
  std::shared_ptr<const KernelModel> model;  // null: none, or it does not know the kernel
  std::unique_ptr<TrialRunner> runner;       // made when first needed
  Status runner_status;
  // Whose input data and reference results the runner holds, and for which seeds.
  const ShapeTask* prepared_for = nullptr;
  std::array<bool, 2> prepared{};
  InPlaceOptions in_place;
  std::vector<std::unique_ptr<ShapeTask>> shapes;
  std::size_t slots_seen = 0;
  StageEstimates compile_estimates;  // handed on to new shapes
};

}  // namespace idletune::detail
