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
#include "agent/src/tuning_engine.hpp"
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

  AgentOptions options_;
  Status model_status_;
  std::shared_ptr<const Model> model_;
  mutable std::mutex mutex_;  // everything of the tuner below
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
