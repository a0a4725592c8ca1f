// The tuner: decides what to do next, does it in stages that fit the time it is given, and
// publishes what it found. One thread at a time (AgentState's lock).
//
// Its functions lie in files by what they are about:
//   tuning_engine.cpp      one call of run()
//   engine_knowledge.cpp   what journal and model know of a shape
//   engine_choice.cpp      which shape is next, and what is done for it
//   engine_stages.cpp      a stage begins and ends
//   engine_steps.cpp       a step ends
//   engine_publish.cpp     an accepted configuration reaches the launches
//   engine_production.cpp  what launches tell
//   engine_classes.cpp     what is known of one shape and counts for others; slots that come back
//   engine_capture.cpp     what the application lends of a shape's data
//   engine_explain.cpp     what people and the journal are told
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/options.hpp>

#include "agent/journal/journal.hpp"
#include "agent/tuning/accounts.hpp"
#include "agent/tuning/stage_in_flight.hpp"
#include "agent/tuning/surroundings.hpp"
#include "agent/tuning/tuning_task.hpp"
#include "agent/tuning/worker.hpp"

namespace idletune::detail {

class TuningEngine {
 public:
  // Options, journal and surroundings must outlive it.
  TuningEngine(const AgentOptions& options, journal::Journal& journal,
               const Surroundings& surroundings);
  ~TuningEngine();

  // Takes over a kernel and what the journal and the model know of it; builds and publishes what
  // was adopted on this device earlier (this is start-up: it may take long), up to a number of
  // shapes; the others are built as run() comes by. What will run is launched once on buffers of
  // the tuner's: on shapes that the journal knows until that took a quarter of a second, else the
  // default on a small shape, where the data cannot lead it astray. Nothing of ours may use the
  // device (see release_device).
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
  // Has `work` done on the worker's thread, where that rests, else here: what may take long and
  // should not keep the caller (files, processes that end).
  void run_errand(std::function<void()> work);
  bool worker_rests() const { return !build_ && !errand_; }
  // Returns when nothing of ours in this process uses the devices any more: waits for the worker,
  // and for a stage in flight unless that is the helper's.
  void release_device();

  // Builds and publishes what an earlier session adopted for the shape, if that was not done yet.
  // Blocks.
  void publish_recalled(ShapeTask& task);
  // Launches what runs for the shape once, on buffers of the tuner's, if a trial has shown that it
  // can be and the scratch limit allows them: the application's first launch then takes no longer
  // than the others. Blocks.
  void launch_ahead(ShapeTask& task);

  // Where what the application lends of a problem is kept.
  std::string capture_path(const KernelState& kernel, const Shape& shape) const;
  // A file of that digest lies there, and making it took the application so long: the shape's
  // search starts anew on these data when it is between two steps.
  void capture_taken(ShapeTask& task, std::uint64_t digest, Nanoseconds took);

  // Makes tasks for the shapes that were launched for the first time. Uses no device.
  void notice_new_shapes();
  // The task of a slot, made if need be; null for a slot that is not the one that lookups find.
  ShapeTask* shape_task(KernelTask& kernel, ShapeSlot& slot);
  Explanation explain(const ShapeTask& task) const;
  AgentStatus status() const;
  void set_longest_gap(Nanoseconds gap) { longest_gap_ = gap; }
  // How long stages had the device in idle time, in this process.
  Nanoseconds gap_wall() const { return accounts_.gap_wall(); }
  // Whoever calls run() did not do so now. `why`: static text. The next run() takes it back.
  void hold_back(Blocker blocker, std::string_view why);
  // Ledger and launch counts into the journal.
  void note(bool now);
  void note_shape(const ShapeTask& task, Nanoseconds time);
  double expected_launches(const ShapeTask& task) const;

 private:
  // A variant that is being built for launches.
  struct Build {
    ShapeTask* task = nullptr;
    Install install;
    std::unique_ptr<TryingCandidate> candidate{};  // is to race; null: it is to be published
    Nanoseconds started{0};
    std::unique_ptr<Variant> variant{};
    Status status{};
    Nanoseconds processor{0};  // time of the thread that built it
  };
  enum class Next : std::uint8_t { started, soon, does_not_fit, compiled_enough, nothing };
  // How much a shape wants to be worked on, the strongest last.
  enum class Want : std::uint8_t {
    nothing,
    saving,      // its default or first pick would be next, but the ledger does not allow it yet
    search,      // further configurations
    beginning,   // to know its default, or to try its first pick
    unfinished,  // to finish what was begun
  };

  // Shapes and devices.
  void record_names(const KernelPackage& package, const DeviceInfo& device);
  void load_knowledge(ShapeTask& task);
  std::uint64_t captured_digest(const KernelState& kernel, const Shape& shape) const;
  void recall(ShapeTask& task);
  void begin_anew(ShapeTask& task);
  void drop_capture(ShapeTask& task);
  SearchSubject subject_of(const KernelState& kernel, const ShapeSlot& slot) const;
  std::vector<KnownMeasurement> measurements_of(const ShapeTask& task) const;
  void recall_default(ShapeTask& task);
  void recall_adoption(ShapeTask& task);
  bool renew_one(ShapeTask* preferred);
  bool retrain(Nanoseconds left);
  DeviceTask& device_task(const Device& device);
  void notice_lost_devices();
  void end_tuning(KernelTask& kernel, const std::string& why);
  bool ended_everywhere() const;
  bool may_tune(const KernelTask& kernel, TimeSource source) const;
  bool helpers_rest(TimeSource source) const;
  bool device_is_used(const KernelTask& kernel) const;
  void housekeeping();

  // Classes of shapes, and slots.
  void note_check(KernelTask& kernel, const Configuration& configuration, const Shape& shape,
                  bool right);
  void refute_classes(KernelTask& kernel);
  void offer_for_classes(KernelTask& kernel);
  void recycle(KernelTask& kernel);
  bool may_leave(const ShapeTask& task) const;
  void leave(KernelTask& kernel, ShapeSlot& slot);

  // Production.
  void drain_tickets(ShapeTask& task);
  void take_sample(ShapeTask& task, const Variant* variant, Nanoseconds time);
  void judge_race(ShapeTask& task);
  void end_racer(ShapeTask& task, std::size_t racer, TrialVerdict verdict);
  void watch_production(ShapeTask& task);
  void allow_setup(ShapeTask& task);
  void begin_recheck(ShapeTask& task);

  // Choosing.
  ShapeTask* choose(TimeSource source, ShapeTask* only);
  ShapeTask* most_wanting(TimeSource source, ShapeTask* only);
  Want want(ShapeTask& task, TimeSource source);
  Want want_of_decision(ShapeTask& task, Nanoseconds charge);
  double worth(const ShapeTask& task, Want want) const;
  StepPrice price(const ShapeTask& task) const;
  void update_decision(ShapeTask& task, const StepPrice& step);
  Nanoseconds gap_needed(const ShapeTask& task) const;
  bool begin_work(ShapeTask& task, TimeSource source);
  bool propose(ShapeTask& task, TimeSource source);
  std::optional<Proposal> take_proposal(ShapeTask& task, TimeSource source);
  std::optional<Proposal> take_suspect(ShapeTask& task);
  Admission admission(const ShapeTask& task, const Configuration& configuration) const;
  CandidateContext candidate_context(const ShapeTask& task, const Configuration& candidate,
                                     const Configuration& incumbent) const;
  JournaledTrial journaled_trial(const ShapeTask& task, const Configuration& configuration);

  // Stages.
  bool ensure_runner(KernelTask& kernel);
  StageContext stage_context(const ShapeTask& task) const;
  StepOptions step_options() const;
  Nanoseconds predict(const ShapeTask& task, const TrialRequest& request) const;
  Next start_stage(ShapeTask& task, TimeSource source, Nanoseconds remaining, IdleReport& report);
  static const char* why_not(Next next);
  bool finish_stage(Nanoseconds wait, IdleReport& report);
  bool is_to_be_repeated(ShapeTask& task, const TrialOutcome& outcome);
  void learn_from(ShapeTask& task, const StageInFlight& stage, const TrialOutcome& outcome);
  void gap_ends();
  bool launches_are_timed() const;
  Nanoseconds wait_for_stage(TimeSource source, Nanoseconds remaining) const;
  Nanoseconds wait_for_compiler(const ShapeTask& task, Nanoseconds started, TimeSource source,
                                Nanoseconds remaining) const;

  void begin_sync();
  bool wait_for_errand(Nanoseconds timeout);

  // Steps.
  void end_work(ShapeTask& task);
  void end_baseline(ShapeTask& task, const ReferenceBaseline& plan);
  // `built`: for launches; null: it was not yet.
  void end_trial(ShapeTask& task, const StepResult& result, JournaledTrial& journaled,
                 std::unique_ptr<Variant> built = nullptr);
  void end_recheck(ShapeTask& task, const CandidateTrial& plan);
  void conclude(ShapeTask& task, const StepResult& result, JournaledTrial& journaled,
                std::unique_ptr<Variant> built);
  void record(const ShapeTask& task, const StepResult& result);
  void log_step(const ShapeTask& task, const StepResult& result) const;

  // Publishing.
  void build(Build build);
  void build_for_launches(Build& build) const;
  void compile_for_launches(Build& build) const;
  bool wait_for_build(Nanoseconds timeout);
  void finish_build();
  void build_failed(const Build& build);
  bool recall_one();
  void install(ShapeTask& task, const Install& install);
  void adopt(ShapeTask& task, const Install& install, std::unique_ptr<Variant> variant);
  void publish(ShapeTask& task, std::unique_ptr<Variant> variant, Nanoseconds time);
  // Launch ahead as long as something is `left` of the time for it. How many were.
  std::size_t publish_adopted(KernelTask& kernel, Nanoseconds& left);
  std::size_t launch_known_defaults(KernelTask& kernel, Nanoseconds left);
  void launch_default_small(KernelTask& kernel);
  void launch_once(KernelTask& kernel, const trial::StepPrograms& programs, const Shape& shape,
                   const Configuration& configuration, std::uint64_t scratch_bytes);
  void demote(ShapeTask& task, const char* why);

  // Of a variant's first launch, in which many drivers generate code.
  Nanoseconds code_generation_deadline() const { return 10 * options_.run_deadline; }
  // The same beside other work.
  Nanoseconds first_launch_deadline() const {
    return code_generation_deadline() + std::chrono::seconds(5);
  }
  Nanoseconds now() const { return surroundings_.clock->now(); }
  void explain_verdict(const ShapeTask& task, Explanation& text) const;
  Blocker blocker_of(const ShapeTask& task) const;
  std::string advice(const ShapeTask& task, Blocker blocker) const;
  std::string compile_advice(const ShapeTask& task) const;
  const ShapeTask* most_blocked() const;
  const char* why_nothing() const;
  std::uint64_t quarantined(const KernelTask& kernel) const;
  void log(int level, TextPieces message) const;
  void take_model(KernelTask& kernel, const std::shared_ptr<const Model>& model);

  const AgentOptions& options_;
  journal::Journal& journal_;
  const Surroundings& surroundings_;
  Accounts accounts_;
  std::vector<std::unique_ptr<DeviceTask>> devices_;
  std::vector<std::unique_ptr<KernelTask>> kernels_;
  std::optional<StageInFlight> in_flight_;
  ShapeTask* current_ = nullptr;    // has a trial under way
  ShapeTask* favourite_ = nullptr;  // had the last step; keeps its turn while its data are prepared
  std::uint32_t streak_ = 0;        // steps of the favourite in a row
  Worker worker_;
  std::optional<Build> build_;  // the worker's, until finish_build()
  bool errand_ = false;         // of the worker's, until wait_for_errand(); never beside a build
  std::shared_ptr<AppendFile> synced_;  // the journal's, by that errand; null: it is another
  Status sync_status_;                  // the worker's likewise
  Nanoseconds gap_needed_{0};           // by the last stage that did not fit; 0: none
  Nanoseconds longest_gap_{0};
  Blocker held_back_ = Blocker::none;  // by whoever calls run()
  std::string_view held_back_why_;
  std::uint64_t steps_ended_ = 0;
  StatusCode keeping_;  // of how_journal_is(), as the log knows it
};

// Ok, why nothing is kept, or what became of the file.
Status how_journal_is(const journal::Journal& journal);

}  // namespace idletune::detail
