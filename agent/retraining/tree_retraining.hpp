// A tree from problems to configurations, grown anew of what this board measured, stage by stage.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "agent/retraining/measured_trees.hpp"
#include "agent/tuning/retrainer.hpp"
#include "agent/tuning/tuning_task.hpp"
#include "platform/os/clock.hpp"

namespace idletune::detail {

class TreeRetraining final : public Retrainer {
 public:
  TreeRetraining(const journal::State& journal, const KernelTask& kernel,
                 const MonotonicClock& clock)
      : journal_(journal), kernel_(kernel), clock_(clock) {}
  bool step(Nanoseconds left, std::shared_ptr<const KernelModel>& model) override;

  // --- for tests, and for people ---
  std::size_t rows() const { return rows_.size(); }
  const Comparison& comparison() const { return contest_.comparison(); }
  std::uint64_t trainings() const { return trainings_; }    // ended
  std::uint64_t replacements() const { return replaced_; }  // of the model in use
  Nanoseconds longest_stage() const { return longest_; }

 private:
  enum class Phase : std::uint8_t { rests, reads, prepares, judges, grows };

  bool is_due() const;
  void begin();
  void read_next();
  void prepare();
  void judge_next();
  void take_over(std::shared_ptr<const KernelModel>& model);
  void end();

  const journal::State& journal_;
  const KernelTask& kernel_;
  const MonotonicClock& clock_;
  Phase phase_ = Phase::rests;
  std::shared_ptr<const KernelModel> judged_against_;
  journal::Trial identity_;
  std::vector<MeasuredRow> rows_;
  std::size_t next_ = 0;  // row
  MeasuredLesson measured_;
  Contest contest_;
  std::uint64_t measurements_ = 0;  // when the last training began
  std::uint64_t trainings_ = 0;
  std::uint64_t replaced_ = 0;
  std::size_t most_rows_ = kMaxRows;
  std::array<Nanoseconds, 5> stages_{};  // the longest of each phase; 0: none yet
  Nanoseconds longest_{0};
  unsigned misses_ = 0;     // in a row: gaps that were too short
  unsigned patience_ = 10;  // misses after which a stage is taken for shorter; it may be wrong
};

}  // namespace idletune::detail
