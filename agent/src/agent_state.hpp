// What stands behind an Agent handle: journal, model, engine, background thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <idletune/agent.hpp>

#include "agent/journal/journal.hpp"
#include "agent/scheduler/idle_gaps.hpp"
#include "agent/src/recent_longest.hpp"
#include "agent/tuning/tuning_engine.hpp"
#include "models/predict/model.hpp"
#include "platform/board/board.hpp"
#include "platform/os/thread.hpp"

namespace idletune::detail {

class AgentState {
 public:
  static Result<std::unique_ptr<AgentState>> open(const AgentOptions& options);
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
  void background_loop();
  // One round; returns how long to sleep before the next.
  Nanoseconds background_round(IdleGapPredictor& gaps, DutyLimiter& duty,
                               std::vector<std::uint64_t>& log_positions);
  void feed_gaps(IdleGapPredictor& gaps, std::vector<std::uint64_t>& log_positions);
  bool board_allows(Nanoseconds time);
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
  std::mutex reload_mutex_;  // taken before mutex_; whoever changes the model holds both
  ModelInUse model_;
  ModelInUse previous_model_;
  std::uint64_t model_stamp_ = 0;  // of the options' file when it was read last
  std::atomic<std::int64_t> model_checked_at_{0};
  mutable std::mutex mutex_;  // model_status_, model_ for readers, everything of the tuner below
  Status model_status_;
  std::unique_ptr<journal::Journal> journal_;
  std::unique_ptr<TuningEngine> engine_;
  RecentLongest offered_gaps_;  // by idle()

  BackgroundOptions background_;
  std::mutex background_mutex_;
  std::condition_variable background_changed_;
  bool stop_background_ = false;
  Thread background_thread_;
  std::unique_ptr<Board> board_;
  Nanoseconds board_read_at_{0};
  bool board_blocks_ = false;
  bool board_read_ = false;
};

}  // namespace idletune::detail
