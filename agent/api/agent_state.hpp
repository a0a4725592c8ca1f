// What stands behind an Agent handle: journal, model, engine, background thread.
#pragma once

#include <atomic>
#include <forward_list>
#include <memory>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/notes.hpp>
#include <idletune/text.hpp>

#include "agent/api/agent_models.hpp"
#include "agent/api/recent_longest.hpp"
#include "agent/journal/journal.hpp"
#include "agent/tuning/surroundings.hpp"
#include "agent/tuning/tuning_engine.hpp"
#include "platform/os/memory_file.hpp"
#include "platform/os/mutex.hpp"
#include "platform/os/storage.hpp"
#include "platform/os/thread.hpp"

namespace idletune::detail {

// What was noted while somebody held the agent's mutex (agent/api/notes.cpp).
class LateNotes {
 public:
  virtual void enter() = 0;  // under that mutex: into the journal

 protected:
  ~LateNotes() = default;
};

class AgentState {
 public:
  static Result<std::unique_ptr<AgentState>> open(const AgentOptions& options);
  // For tests: an agent in other surroundings than the real ones.
  static Result<std::unique_ptr<AgentState>> open(const AgentOptions& options,
                                                  Surroundings surroundings);
  static Result<Agent> open_agent(const AgentOptions& options, Surroundings surroundings);
  ~AgentState();

  // `called`: of calls that the application makes itself, on a device that stands for them; else
  // null.
  struct Called {
    std::unique_ptr<Device> device;
    std::unique_ptr<TrialRunner> trials;
    InPlaceOptions in_place;
  };
  Result<KernelState*> kernel(Device& device, std::vector<std::uint8_t> package,
                              const std::string& file_name, Called* called = nullptr);
  Status call_failed(KernelState& kernel, const Shape& problem, const Configuration& configuration,
                     const Measurement& measurement);
  IdleReport idle(Nanoseconds budget, TimeSource source);
  Status start_background(const BackgroundOptions& options);
  void stop_background();
  AgentModels& models() { return *models_; }
  // For the models. Uses this one from now on, if it is another one than before; `status`: ok, or
  // why what was pushed last is not. Waits until nobody tunes.
  void use_model(const std::shared_ptr<const Model>& model, const ModelStanding& standing,
                 const Status& status);
  bool tunes();  // somebody does, at this moment
  // For slots. Their record in the journal; `wait`, success: it is on the medium.
  std::vector<std::uint8_t> kept_models() const;
  Status keep_models(Bytes record, bool wait);
  // In which they make theirs; empty: there is none. True: the journal is this process's, and is
  // written.
  std::pair<std::string, bool> model_folder() const;
  // Of what is kept, and of all kernels so far. Waits until nobody tunes.
  using Look = std::function<void(const journal::State&, Span<const std::unique_ptr<KernelTask>>)>;
  void look_at(const Look& look) const;
  AgentStatus status() const;
  std::string explain_json() const;
  Status flush();

  // For TunedKernel.
  Status prepare(KernelState& kernel, const Shape& shape);
  Status capture(KernelState& kernel, const Shape& shape, Span<const Argument> arguments);
  void allow_in_place(KernelState& kernel, const InPlaceOptions& options);
  Result<Explanation> explain(const KernelState& kernel, const Shape& shape) const;
  std::vector<Shape> shapes(KernelState& kernel) const;
  // For tests, where one thread does everything.
  TuningEngine& engine() IDLETUNE_NO_THREAD_SAFETY_ANALYSIS { return *engine_; }
  const journal::Journal& journal() IDLETUNE_NO_THREAD_SAFETY_ANALYSIS { return *journal_; }

 private:
  friend class AgentNotes;  // agent/api/notes.cpp
  friend class NotePad;
  AgentState() = default;
  Status start() IDLETUNE_NO_THREAD_SAFETY_ANALYSIS;  // nobody else has the agent yet
  void mend_options();
  void tidy_state() const IDLETUNE_NO_THREAD_SAFETY_ANALYSIS;
  void open_journal() IDLETUNE_NO_THREAD_SAFETY_ANALYSIS;
  // JournalOptions::trace.
  bool open_trace(std::uint64_t session, std::vector<journal::Begun>& begun);
  Result<ShapeTask*> shape_task(TunerLock lock, KernelState& kernel, const Shape& shape)
      IDLETUNE_REQUIRES(mutex_);
  AgentStatus status_locked() const IDLETUNE_REQUIRES(mutex_);
  void tune_in_background(const BackgroundOptions& options);
  void log_launches(const MonotonicClock* clock);
  std::string explain_locked() const IDLETUNE_REQUIRES(mutex_);
  // What `idletune explain` reads: for the state folder; empty where there is none.
  std::string explanation_to_keep() const IDLETUNE_REQUIRES(mutex_);
  // The same now and then, for whoever tunes; else empty.
  void explain_if_due() IDLETUNE_REQUIRES(mutex_);
  void tell_if_displaced() IDLETUNE_REQUIRES(mutex_);
  Status write_explanation(const std::string& text, FileSync sync = FileSync::yes) const
      IDLETUNE_EXCLUDES(mutex_);

  AgentOptions options_;
  Surroundings surroundings_;
  std::forward_list<std::unique_ptr<Device>> called_;  // outlives the engine
  std::unique_ptr<MemoryFile> trace_file_;
  std::unique_ptr<LaunchTrace> trace_;  // on it; before the engine's launches, and after them
  // Held in this order. Who starts and stops the thread; everything else. That of the models comes
  // before the latter, too.
  Mutex control_mutex_ IDLETUNE_ACQUIRED_BEFORE(mutex_);
  mutable Mutex mutex_;

  std::shared_ptr<const Model> model_ IDLETUNE_GUARDED_BY(mutex_);  // in use
  Nanoseconds explanation_due_ IDLETUNE_GUARDED_BY(mutex_){0};
  bool displaced_told_ IDLETUNE_GUARDED_BY(mutex_) = false;
  ModelStanding model_standing_ IDLETUNE_GUARDED_BY(mutex_);
  Status model_status_ IDLETUNE_GUARDED_BY(mutex_);
  std::unique_ptr<journal::Journal> journal_ IDLETUNE_PT_GUARDED_BY(mutex_);
  std::unique_ptr<TuningEngine> engine_ IDLETUNE_PT_GUARDED_BY(mutex_);
  RecentLongest offered_gaps_ IDLETUNE_GUARDED_BY(mutex_);  // by idle()
  // Null: launches are not logged.
  const MonotonicClock* launch_log_clock_ IDLETUNE_GUARDED_BY(mutex_) = nullptr;
  LateNotes* late_notes_ IDLETUNE_GUARDED_BY(mutex_) = nullptr;  // null: there are no notes

  std::unique_ptr<AgentModels> models_;

  Mutex background_mutex_;
  Condition background_changed_;
  bool stop_background_ IDLETUNE_GUARDED_BY(background_mutex_) = false;
  Thread background_thread_ IDLETUNE_GUARDED_BY(control_mutex_);
};

// As idletune::open_notes().
std::unique_ptr<Notes> open_notes(AgentState& agent);

// As KernelState::slot_for; where there is no room for one: out_of_memory.
Result<SlotRef> slot_for(TunerLock lock, KernelState& kernel, const Shape& shape);

}  // namespace idletune::detail
