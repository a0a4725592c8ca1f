// A prediction with what it is worth: an interval, a probability, expected regrets, and how far the
// sample is from everything that was learned from. Host side.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/offload/sample.hpp"
#include "models/host/offload/speedup_learner.hpp"

namespace idletune::offload {

// Which of a sample's groups stay together when samples are parted.
enum class GroupBy : std::uint8_t { sample, kernel, program, suite, network, kind };
// Errors: invalid_argument, listing the names.
Result<GroupBy> group_by_name(const std::string& name);
const char* group_by_name(GroupBy group);
// "" if the sample does not say; its own name for GroupBy::sample.
const std::string& group_of(const Sample& sample, GroupBy group);

struct PredictorOptions {
  SpeedupOptions learner;
  GroupBy group = GroupBy::program;  // for the folds of the intervals
  std::size_t folds = 5;             // at most; fewer if there are fewer groups; at least 2
  // Samples further away than this quantile of the distances between groups are not answered.
  double distance_quantile = 0.95;
  // Verdicts may be wrong that often, of those that are given about samples of other groups.
  double wrong_answers = 0.05;
};

// Infinite where the groups are too few: 4 give one of 80 %, 9 one of 90 %.
struct LogInterval {
  double low = 0;  // of ln(speed-up)
  double high = 0;
};

struct Neighbour {
  std::string name;
  double distance = 0;
};

struct SpeedupPrediction {
  double log_speedup = 0;
  LogInterval interval80;
  LogInterval interval90;
  // A verdict is given where the break-even lies outside of this one. Its level is such that few
  // verdicts about samples of groups that were left out are wrong, one more group being counted as
  // wrong; infinite, of level 1, if no level is (for 5 % with fewer than 19 groups).
  LogInterval deciding;
  double level = 1;
  double probability = 0;     // of a speed-up above the break-even that was asked for
  double regret_offload = 0;  // expected, as shares of the CPU's time
  double regret_keep = 0;
  double log_regret_offload = 0;  // expected, of ln(time) instead of time: each sample counts alike
  double log_regret_keep = 0;
  double distance = 0;  // to the nearest sample, as a share of the limit: above 1 is too far
  std::vector<Neighbour> nearest;  // at most 3
};

class Predictor {
 public:
  // Learns from those samples. The set must live as long. Errors: those of the learner; not enough
  // groups for two folds.
  static Result<Predictor> learn(const SampleSet& set, const std::vector<std::size_t>& rows,
                                 const PredictorOptions& options);

  // The same from all samples of the set.
  static Result<Predictor> learn(const SampleSet& set, const PredictorOptions& options);

  // `overhead`: what offloading costs besides the kernel (transfers), as a share of the CPU's time.
  // The break-even is then a GPU time of 1 - overhead of it.
  SpeedupPrediction predict(const Sample& sample, double overhead = 0) const;
  const SpeedupLearner& learner() const { return *learner_; }
  double distance_limit() const { return limit_; }

 private:
  struct Residual {
    std::size_t fold;
    double value;   // measured minus predicted, over the difficulty
    double weight;  // each group weighs the same
    double centre;  // predicted by what was learned without its fold
    double difficulty;
    double distance;  // to the nearest sample of another fold, as a share of the limit
  };
  // (ln(speed-up), weight) by sample that was learned from: as far off as that was, ascending; and
  // as far below and above.
  struct Outcomes {
    std::vector<std::pair<double, double>> values, low, high;
  };
  Outcomes outcomes(const Sample& sample) const;
  bool varies(std::size_t feature) const;
  std::vector<double> standardized(const Sample& sample) const;
  double distance(const std::vector<double>& a, const std::vector<double>& b) const;
  // How hard a sample is for what was learned without that fold: errors are taken to grow with it.
  double difficulty(const SpeedupLearner& learner, const Sample& sample,
                    const std::vector<double>& point, std::size_t fold) const;
  double nearest_distance(const std::vector<double>& point, std::size_t fold) const;
  void choose_certainty(double wrong_answers);
  void measure_distances(const std::vector<std::vector<std::size_t>>& parts,
                         const PredictorOptions& options);

  const SampleSet* set_ = nullptr;
  std::vector<std::size_t> rows_;
  std::unique_ptr<SpeedupLearner> learner_;
  std::vector<std::unique_ptr<SpeedupLearner>> fold_learners_;
  std::vector<Residual> residuals_;
  FeatureScaling scaling_;
  std::vector<double> means_;
  std::vector<double> deviations_;
  std::vector<std::vector<double>> points_;
  std::vector<std::size_t> folds_;  // per point
  double limit_ = 0;
  // Of a probability: its distance from one half from which on verdicts are given; none: never.
  std::optional<double> certainty_;
};

// Rows by group into `folds` parts of about the same size, no group in two parts; as many parts as
// groups if they are fewer. Deterministic.
std::vector<std::vector<std::size_t>> part_by_group(const SampleSet& set,
                                                    const std::vector<std::size_t>& rows,
                                                    GroupBy group, std::size_t folds);

}  // namespace idletune::offload
