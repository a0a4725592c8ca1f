// What a trial runner holds as far as its user knows: compiled configurations and prepared data.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "agent/scheduler/step_plan.hpp"
#include "agent/trial/trial.hpp"

namespace idletune::detail {

// A belief, not a fact: a runner makes up for what it turns out to lack. One thread.
class RunnerContents {
 public:
  static constexpr std::size_t kCompiled = 4;  // as many as TrialExecutorOptions keeps

  void stage_ended(const TrialRequest& request, const TrialOutcome& outcome,
                   const StepOptions& step) {
    // The helper is replaced.
    const bool lost =
        is_death(outcome.status) || outcome.status == TrialStatus::runtime || outcome.cut;
    if (lost) return forget();
    if (request.stage != TrialStage::prepare && outcome.status == TrialStatus::correct) {
      note_used(request.configuration);
    }
    if (request.stage == TrialStage::compile) return;
    if (shape_ != request.shape) prepared_ = {};
    shape_ = request.shape;
    if (request.stage != TrialStage::prepare || outcome.status != TrialStatus::correct) return;
    for (std::size_t i = 0; i < step.seeds.size(); ++i) {
      prepared_[i] = prepared_[i] || step.seeds[i] == request.seed;
    }
  }
  void forget() {
    compiled_.clear();
    shape_ = Shape();
    prepared_ = {};
  }

  bool compiled(const Configuration& configuration) const {
    for (const Configuration& each : compiled_) {
      if (each == configuration) return true;
    }
    return false;
  }
  // Which of StepOptions::seeds have their inputs and reference results there.
  std::array<bool, 2> prepared(const Shape& shape) const {
    return shape == shape_ ? prepared_ : std::array<bool, 2>{};
  }

 private:
  // The one used longest ago makes room.
  void note_used(const Configuration& configuration) {
    std::size_t at = 0;
    while (at < compiled_.size() && compiled_[at] != configuration) ++at;
    if (at == compiled_.size() && at < kCompiled) {
      compiled_.push_back(configuration);
      return;
    }
    if (at == compiled_.size()) compiled_[at = 0] = configuration;
    for (; at + 1 < compiled_.size(); ++at) std::swap(compiled_[at], compiled_[at + 1]);
  }

  std::vector<Configuration> compiled_;  // the one used last at the end
  Shape shape_;
  std::array<bool, 2> prepared_{};
};

}  // namespace idletune::detail
