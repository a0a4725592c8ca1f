// How good predictions and choices are for samples of groups that nothing was learned from. Host
// side.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <idletune/result.hpp>

#include "models/host/offload/predictor.hpp"

namespace idletune::offload {

struct LeftOut {
  std::size_t sample = 0;  // of the set
  std::string group;       // that was left out with it
  SpeedupPrediction prediction;

  // Too far from all samples, or the deciding interval holds the break-even.
  bool unknown() const;
  // Of least expected regret; also where the answer would be "unknown".
  bool offload() const { return prediction.regret_offload < prediction.regret_keep; }
  // Of least expected regret if each sample counts alike, however long it takes.
  bool offload_alike() const { return prediction.log_regret_offload < prediction.log_regret_keep; }
};

// Leaves out each group in turn (of at most `folds` parts, if it is not 0), learns from the others,
// predicts. In the order of the set's samples. `progress` is called with (done, all) and may stop
// the evaluation by answering false: then what is finished is answered. Errors: those of the
// learners; one group only.
Result<std::vector<LeftOut>> leave_out(
    const SampleSet& set, GroupBy group, std::size_t folds, const PredictorOptions& options,
    const std::function<bool(std::size_t, std::size_t)>& progress);

// The same with random tenths of the samples instead of groups: what somebody would publish who
// does not look whose samples they are. Drawn by the learner's seed.
Result<std::vector<LeftOut>> leave_random_out(const SampleSet& set,
                                              const PredictorOptions& options);

struct Figures {
  std::size_t groups = 0;
  std::size_t samples = 0;
  double error_mean = 0;       // of |predicted - T| / T, T the GPU's time
  double error_median = 0;     // of the same
  double error_published = 0;  // mean of |1 - T / predicted|, which is |S - predicted S| / S
  double error_log = 0;        // mean of |ln(predicted / T)|
  double coverage80 = 0;
  double coverage90 = 0;
  double width80 = 0;              // median ratio of the interval's ends
  double coverage80_answered = 0;  // of those that are not unknown; NaN: there is none
  // Times of the choices (unknown ones are made, too) over those of the better device: total, by
  // least regret in milliseconds; and geometric mean per sample, by least regret if samples count
  // alike.
  double ratio = 1;
  double ratio_geometric = 1;
  double always_cpu = 1;
  double always_cpu_geometric = 1;
  double always_gpu = 1;
  double always_gpu_geometric = 1;
  double right = 0;    // share of the latter choices that are the better device
  double unknown = 0;  // share
  double wrong = 0;    // share of the answered ones that name the slower device
};
Figures figures_of(const SampleSet& set, const std::vector<LeftOut>& results);

// The share of answers that would be wrong if only the most certain ones were given, at twenty
// shares from 5 % to 100 %.
struct RiskPoint {
  double answered;
  double wrong;
  double regret;    // realised, ms per sample answered
  double expected;  // the same as it was expected
};
std::vector<RiskPoint> risk_curve(const SampleSet& set, const std::vector<LeftOut>& results);

}  // namespace idletune::offload
