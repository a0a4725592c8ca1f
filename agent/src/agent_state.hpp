// What stands behind an Agent handle: journal, model, engine, background thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/text.hpp>

#include "agent/journal/journal.hpp"
#include "agent/src/recent_longest.hpp"
#include "agent/tuning/surroundings.hpp"
#include "agent/tuning/tuning_engine.hpp"
#include "models/predict/model.hpp"
#include "platform/os/thread.hpp"

namespace idletune::detail {

class AgentState {
 public:
  static Result<std::unique_ptr<AgentState>> open(const AgentOptions& options);
  // For tests: an agent in other surroundings than the real ones.
  static Result<Agent> open_agent(const AgentOptions& options, Surroundings surroundings);
  ~AgentState();

  Result<KernelState*> kernel(Device& device, std::vector<std::uint8_t> package,
                              const std::string& file_name);
  IdleReport idle(Nanoseconds budget, TimeSource source);
  Status start_background(const BackgroundOptions& options);
  void stop_background();
  Status reload_model(const std::string& path);
  Status rollback_model();
  AgentStatus status() const;
  std::string explain_json() const;
  Status flush();

  // For TunedKernel.
  Status prepare(KernelState& kernel, const Shape& shape);
  void expect_launches(KernelState& kernel, const Shape& shape, double launches);
  void allow_in_place(KernelState& kernel, const InPlaceOptions& options);
  Result<Explanation> explain(const KernelState& kernel, const Shape& shape) const;
  std::vector<Shape> shapes(KernelState& kernel) const;
  const AgentOptions& options() const { return options_; }

 private:
  AgentState() = default;
  Status start();
  void open_journal();
  void log(int level, TextPieces message) const;
  AgentStatus status_locked() const;
  void tune_in_background(const BackgroundOptions& options);
  void log_launches(const MonotonicClock* clock);
  std::string explain_locked() const;
  Status write_explanation() const;

  // A model and the file it was read from. model_reload.cpp.
  struct ModelInUse {
    std::shared_ptr<const Model> model;
    std::string path;
  };
  void open_model();
  Status read_and_take_over(const std::string& path);
  void take_over(ModelInUse next);
  void fill_model_status(AgentStatus& status) const;
  // Takes over the model's file if it was replaced; returns how long that took.
  Nanoseconds notice_new_model();

  AgentOptions options_;
  Surroundings surroundings_;
  std::mutex reload_mutex_;  // taken before mutex_; whoever changes the model holds both
  ModelInUse model_;
  ModelInUse previous_model_;
  std::uint64_t model_stamp_ = 0;  // of the options' file when it was read last
  std::atomic<std::int64_t> model_checked_at_{0};
  mutable std::mutex mutex_;  // model_status_, model_ for readers, everything of the tuner below
  Status model_status_;
  std::unique_ptr<journal::Journal> journal_;
  std::unique_ptr<TuningEngine> engine_;
  RecentLongest offered_gaps_;                        // by idle()
  const MonotonicClock* launch_log_clock_ = nullptr;  // null: launches are not logged

  std::mutex control_mutex_;  // taken before all others: who starts and stops the thread
  std::mutex background_mutex_;
  std::condition_variable background_changed_;
  bool stop_background_ = false;
  Thread background_thread_;  // under control_mutex_
};

}  // namespace idletune::detail
