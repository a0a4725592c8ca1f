// The tuner: decides what to do next, does it in stages that fit the time it is given, and
// publishes what it found. One thread at a time (AgentState's lock). Each of its parts owns what it
// changes and reads the rest (README.md has the picture).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/options.hpp>

#include "agent/tuning/explanation.hpp"
#include "agent/tuning/production.hpp"

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
  void use_model(const std::shared_ptr<const Model>& model) { knowledge_.use_model(model); }
  const std::vector<std::unique_ptr<KernelTask>>& kernels() const { return core_.kernels_; }
  KernelTask* task_of(const KernelState& state) { return core_.task_of(state); }

  // Tunes for at most `budget`. `only`: nothing but this shape (start_up).
  IdleReport run(Nanoseconds budget, TimeSource source, ShapeTask* only = nullptr);
  void run_errand(std::function<void()> work) { flight_.run_errand(std::move(work)); }
  // Of what was recorded between two gaps. Waits for nobody.
  void begin_write() {
    (void)flight_.wait_for_errand(Nanoseconds{0});
    flight_.begin_write();
  }
  bool worker_rests() const { return flight_.worker_rests(); }
  void release_device() { steps_.release_device(); }
  void publish_recalled(ShapeTask& task) {
    steps_.publish_recalled(task);
    follow_facts();
  }
  void launch_ahead(ShapeTask& task) {
    steps_.launch_ahead(task);
    follow_facts();
  }

  std::string capture_path(const KernelState& kernel, const Shape& shape) const {
    return core_.capture_path(kernel, shape);
  }
  void call_failed(ShapeTask& task, const Configuration& configuration,
                   const Measurement& measurement);
  void capture_taken(ShapeTask& task, std::uint64_t digest, Nanoseconds took) {
    knowledge_.capture_taken(task, digest, took);
  }

  void notice_new_shapes() { shapes_.notice_new_shapes(); }
  ShapeTask* shape_task(KernelTask& kernel, ShapeSlot& slot) {
    return shapes_.shape_task(kernel, slot);
  }
  bool classes_fail(const KernelTask& kernel) const {
    return core_.facts_.classes_fail(kernel.facts());
  }
  Explanation explain(const ShapeTask& task) const { return explanation_.explain(task); }
  AgentStatus status() const { return explanation_.status(); }
  double expected_launches(const ShapeTask& task) const { return core_.expected_launches(task); }
  void library_worked(Nanoseconds work, Nanoseconds lost) {
    core_.accounts_.library_worked(work, lost);
  }
  void set_longest_gap(Nanoseconds gap) { core_.longest_gap_ = gap; }
  // Of the next budget: for those alone whose launches may be used for measuring.
  void set_beyond_gap(Nanoseconds time) { core_.beyond_gap_ = time; }
  // How long stages had the device in idle time, in this process.
  Nanoseconds gap_wall() const { return core_.accounts_.gap_wall(); }
  // Whoever calls run() did not do so now. `why`: static text. The next run() takes it back.
  void hold_back(Blocker blocker, std::string_view why);
  // Ledger and launch counts into the journal.
  void note(bool now);

 private:
  const char* wait_for_what_flies(TimeSource source, Nanoseconds remaining, IdleReport& report);
  void follow_facts();
  void housekeeping();

  EngineCore core_;
  HeldBack held_back_;
  Knowledge knowledge_;
  Publisher publisher_;
  Flight flight_;
  Shapes shapes_;
  Steps steps_;
  Production production_;
  Choice choice_;
  EngineExplanation explanation_;
  StatusCode keeping_;  // of how_journal_is(), as the log knows it
};

}  // namespace idletune::detail
