// The tuner: decides what to do next, does it in stages that fit the time it is given, and
// publishes what it found. One thread at a time (AgentState's lock).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/options.hpp>

#include "agent/journal/journal.hpp"
#include "agent/scheduler/ledger.hpp"
#include "agent/tuning/surroundings.hpp"
#include "agent/tuning/tuning_task.hpp"
#include "agent/tuning/worker.hpp"

namespace idletune::detail {

// What the time given to the engine is worth.
enum class TimeSource : std::uint8_t {
  idle,        // the application's idle time: decision and ledger apply
  foreground,  // the user asked for tuning here and now: neither applies
  start_up     // prepare(): the first pick only, not charged
};

class TuningEngine {
 public:
  // Options, journal and surroundings must outlive it.
  TuningEngine(const AgentOptions& options, journal::Journal& journal,
               const Surroundings& surroundings);
  ~TuningEngine();

  // Takes over a kernel and what the journal and the model know of it; builds and publishes what
  // was adopted on this device earlier (this is start-up: it may take long), up to a number of
  // shapes; the others are built as run() comes by. Nothing of ours may use the device (see
  // release_device).
  KernelTask& add_kernel(std::unique_ptr<KernelState> state,
                         const std::shared_ptr<const Model>& model);
  // From now on this model counts (null: none). Shapes go over to it one by one, each when it is
  // between two steps and run() comes by; what was measured for them is told to their new
  // searchers.
  void use_model(const std::shared_ptr<const Model>& model);
  const std::vector<std::unique_ptr<KernelTask>>& kernels() const { return kernels_; }
  KernelTask* task_of(const KernelState& state);

  // Tunes for at most `budget`. `only`: nothing but this shape (start_up).
  IdleReport run(Nanoseconds budget, TimeSource source, ShapeTask* only = nullptr);
  // Returns when nothing of ours in this process uses the devices any more: waits for a build, and
  // for a stage in flight unless that is the helper's.
  void release_device();

  // Builds and publishes what an earlier session adopted for the shape, if that was not done yet.
  // Blocks.
  void publish_recalled(ShapeTask& task);

  // Makes tasks for the shapes that were launched for the first time. Uses no device.
  void notice_new_shapes();
  // The task of a slot, made if need be; null for a slot that is not the one that lookups find.
  ShapeTask* shape_task(KernelTask& kernel, ShapeSlot& slot);
  Explanation explain(const ShapeTask& task) const;
  AgentStatus status() const;
  void set_longest_gap(Nanoseconds gap) { longest_gap_ = gap; }
  // Ledger and launch counts into the journal.
  void note(bool now);
  double expected_launches(const ShapeTask& task) const;

 private:
  struct InFlight {
    ShapeTask* task = nullptr;
    TrialRequest request;
    TimeSource source = TimeSource::idle;
    std::uint64_t launches_before = 0;
    Nanoseconds started{0};
    Nanoseconds gap_end{0};      // when run() returned without waiting any longer; 0: it did not
    bool disturbed_gap = false;  // launches came before that
    std::vector<std::uint64_t> log_ends{};  // of each kernel's launch log when the stage began
  };
  // How a step ended, whichever way it was measured.
  struct StepEnd {
    TrialVerdict verdict = TrialVerdict::reject_failed;
    TrialStatus status = TrialStatus::correct;
    Nanoseconds time{0};
    Nanoseconds compile{0};
    std::uint32_t seeds = 0;
    std::string message;
  };
  enum class Next : std::uint8_t { started, does_not_fit, nothing };

  // Bookkeeping between stages.
  void load_knowledge(ShapeTask& task);
  void set_up_search(ShapeTask& task);
  std::vector<journal::Measurement> measurements_of(const ShapeTask& task) const;
  bool at_rest(const ShapeTask& task) const;
  void renew_knowledge(ShapeTask& task);
  void renew_one(ShapeTask* preferred);
  void recall(ShapeTask& task, const journal::Measurement& measurement);
  void notice_lost_devices();
  DeviceTask& device_task(Device& device);
  void end_tuning(KernelTask& kernel, const std::string& why);
  bool ended_everywhere() const;
  void drain_tickets(ShapeTask& task);
  void credit_launches(ShapeTask& task);
  void watch_production(ShapeTask& task);
  void reclaim(ShapeTask& task);
  void housekeeping();
  bool device_is_used(const KernelTask& kernel) const;

  // Choosing.
  static bool can_tune(const KernelTask& kernel) {
    return kernel.runner_status.ok() && !kernel.device->ended();
  }
  ShapeTask* choose(TimeSource source, ShapeTask* only);
  bool wants_work(ShapeTask& task, TimeSource source);
  Promise promise(const ShapeTask& task) const;
  void update_decision(ShapeTask& task);
  bool may_spend(const ShapeTask& task, TimeSource source, Nanoseconds charge) const;
  Nanoseconds step_charge(const ShapeTask& task) const;
  Nanoseconds gap_needed(const ShapeTask& task) const;
  bool begin_work(ShapeTask& task, TimeSource source);
  bool propose(ShapeTask& task, TimeSource source);
  bool take_proposal(ShapeTask& task, Proposal& proposal, TimeSource source);
  bool refused_by_journal(const ShapeTask& task, const Configuration& configuration) const;
  std::optional<TrialRequest> next_request(const ShapeTask& task) const;
  Nanoseconds predict(const ShapeTask& task, const TrialRequest& request) const;
  bool concerns_candidate(const ShapeTask& task) const;

  // Doing.
  Next start_stage(ShapeTask& task, TimeSource source, Nanoseconds remaining, IdleReport& report);
  bool finish_stage(Nanoseconds wait, IdleReport& report);
  void on_outcome(ShapeTask& task, const TrialOutcome& outcome);
  void leave_in_flight();
  std::optional<Nanoseconds> first_logged_launch(const InFlight& flight) const;
  Nanoseconds interference(const InFlight& flight, const TrialOutcome& outcome) const;
  void charge(ShapeTask& task, const InFlight& flight, const TrialOutcome& outcome);
  void note_prepared(ShapeTask& task, const TrialRequest& request, const TrialOutcome& outcome);
  void announce(ShapeTask& task, const TrialRequest& request);
  void conclude(ShapeTask& task, const StepEnd& end);
  void end_baseline(ShapeTask& task);
  void end_trial(ShapeTask& task);
  void end_recheck(ShapeTask& task);
  void end_in_place(ShapeTask& task);
  void record(ShapeTask& task, const Configuration& configuration, TrialStatus status,
              Nanoseconds time, Nanoseconds compile, std::uint32_t seeds,
              const std::string& message);
  bool ensure_runner(KernelTask& kernel);

  // Publishing.
  void install(ShapeTask& task, const Install& install);
  void build_for_launches(const ShapeTask& task, const Install& install);
  void finish_install();
  void install_failed(ShapeTask& task);
  bool recall_one();
  void publish(ShapeTask& task, std::unique_ptr<Variant> variant, Nanoseconds time);
  void demote(ShapeTask& task, const char* why);
  void start_in_place_timing(ShapeTask& task);
  void stop_in_place_timing(ShapeTask& task);

  StageContext stage_context(const ShapeTask& task) const;
  StepOptions step_options() const;
  // Of a variant's first launch, in which many drivers generate code.
  Nanoseconds code_generation_deadline() const { return 10 * options_.run_deadline; }
  Nanoseconds now() const { return surroundings_.clock->now(); }
  std::uint64_t all_launches() const;
  std::uint64_t quarantined(const KernelTask& kernel) const;
  void log(int level, TextPieces message) const;

  const AgentOptions& options_;
  journal::Journal& journal_;
  const Surroundings& surroundings_;
  Ledger ledger_;
  std::vector<std::unique_ptr<DeviceTask>> devices_;
  std::vector<std::unique_ptr<KernelTask>> kernels_;
  std::optional<InFlight> in_flight_;
  ShapeTask* current_ = nullptr;    // has a trial under way
  ShapeTask* favourite_ = nullptr;  // had the last step; keeps its turn while its data are prepared
  std::uint32_t streak_ = 0;        // steps of the favourite in a row

  // The build in progress and what comes out of it.
  Worker worker_;
  ShapeTask* building_ = nullptr;
  std::unique_ptr<Variant> built_;
  Status build_status_;

  Nanoseconds tuning_wall_{0};
  Nanoseconds device_time_{0};
  Nanoseconds gap_needed_{0};  // by the last stage that did not fit; 0: none
  Nanoseconds longest_gap_{0};
  std::uint64_t steps_ended_ = 0;
};

}  // namespace idletune::detail
