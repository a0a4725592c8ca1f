#include "models/host/offload/speedup_learner.hpp"

#include <algorithm>
#include <cmath>

#include "models/forest/forest.hpp"

namespace idletune::offload {

namespace {

// Counts reach further than this, shares do not.
constexpr double kLargestShare = 2;
// A forest's leaves and the share of the features that a split chooses from.
constexpr std::size_t kLeafRows = 5;
constexpr double kCandidateShare = 0.4;
// Leaves of samples that are all alike do not make a forest certain.
constexpr double kLeastSpread = 0.1;

double log_speedup_of(const Sample& sample) {
  return std::log(sample.cpu_ms / sample.best_gpu_ms());
}

std::vector<std::string> remarks_on(const learners::StepwiseEnsemble& ensemble,
                                    const std::vector<std::string>& names) {
  std::vector<std::size_t> constant(names.size(), 0);
  std::vector<std::size_t> collinear(names.size(), 0);
  for (const learners::StepwiseModel& model : ensemble.models) {
    for (const std::uint32_t j : model.constant_features) ++constant[j];
    for (const std::uint32_t j : model.collinear_features) ++collinear[j];
  }
  std::vector<std::string> remarks;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (constant[j] == ensemble.models.size()) {
      remarks.push_back("'" + names[j] + "' is the same in all samples: not used");
    } else if (collinear[j] == ensemble.models.size()) {
      remarks.push_back("'" + names[j] + "' says nothing that other features do not: not used");
    }
  }
  return remarks;
}

// time = scale * (b0 + sum of terms)
class PublishedLearner final : public SpeedupLearner {
 public:
  explicit PublishedLearner(const SpeedupOptions& options) {
    options_.models = options.models;
    options_.seed = options.seed;
  }

  Status fit(const SampleSet& set, Span<const std::size_t> rows) override {
    scale_ = scale_feature(set.features);
    names_.clear();
    for (std::size_t j = 0; j < set.features.names.size(); ++j) {
      if (j != scale_) names_.push_back(set.features.names[j]);
    }
    std::vector<double> values;
    std::vector<double> targets;
    for (const std::size_t row : rows) {
      const Sample& sample = set.samples[row];
      const std::vector<double> others = without_scale(sample);
      values.insert(values.end(), others.begin(), others.end());
      targets.push_back(sample.best_gpu_ms() / scale_of(sample));
    }
    auto ensemble = learners::fit_stepwise_ensemble({values, names_.size(), targets}, options_);
    if (!ensemble.ok()) return ensemble.status();
    ensemble_ = std::move(*ensemble);
    least_ = *std::min_element(targets.begin(), targets.end());
    return {};
  }

  double log_speedup(const Sample& sample) const override {
    // A line knows no zero: the least time per operation that was seen is the floor.
    const double per_operation =
        std::max(least_, ensemble_.predict(without_scale(sample), inclusion_));
    return std::log(sample.cpu_ms / (per_operation * scale_of(sample)));
  }

  std::vector<std::string> remarks() const override { return remarks_on(ensemble_, names_); }
  std::vector<std::string> columns() const override { return names_; }
  const learners::StepwiseEnsemble* ensemble() const override { return &ensemble_; }
  void set_inclusion(double inclusion) override { inclusion_ = inclusion; }

 private:
  double scale_of(const Sample& sample) const {
    return scale_ < sample.features.size() ? std::max(1.0, sample.features[scale_]) : 1;
  }
  std::vector<double> without_scale(const Sample& sample) const {
    std::vector<double> others = sample.features;
    if (scale_ < others.size()) others.erase(others.begin() + static_cast<std::ptrdiff_t>(scale_));
    return others;
  }

  learners::StepwiseEnsembleOptions options_;
  learners::StepwiseEnsemble ensemble_;
  double inclusion_ = learners::StepwiseEnsemble::kInclusion;
  std::size_t scale_ = 0;
  std::vector<std::string> names_;
  double least_ = 0;
};

// What the other learners learn from: scaled features and, perhaps, the CPU's time.
class ScaledRows {
 public:
  // `per_operation`: also the CPU's time per operation, which trees cannot make of the two, since
  // they do not divide.
  ScaledRows(bool cpu_time, bool per_operation)
      : cpu_time_(cpu_time), per_operation_(cpu_time && per_operation) {}
  void learn(const SampleSet& set, Span<const std::size_t> rows) {
    scaling_ = FeatureScaling(set, rows);
    scale_ = scale_feature(set.features);
    names_ = set.features.names;
    per_operation_ = per_operation_ && scale_ < names_.size();
    if (cpu_time_) names_.emplace_back("cpu_ms");
    if (per_operation_) names_.emplace_back("cpu_ms per operation");
  }
  std::vector<double> row(const Sample& sample) const {
    std::vector<double> values = scaling_.scaled(sample);
    if (cpu_time_) values.push_back(std::log(sample.cpu_ms));
    if (per_operation_)
      values.push_back(std::log(sample.cpu_ms / std::max(1.0, sample.features[scale_])));
    return values;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  bool cpu_time_;
  bool per_operation_;
  FeatureScaling scaling_;
  std::size_t scale_ = 0;
  std::vector<std::string> names_;
};

class LogarithmLearner final : public SpeedupLearner {
 public:
  explicit LogarithmLearner(const SpeedupOptions& options) : rows_(options.cpu_time, false) {
    options_.models = options.models;
    options_.seed = options.seed;
  }

  Status fit(const SampleSet& set, Span<const std::size_t> rows) override {
    rows_.learn(set, rows);
    std::vector<double> values;
    std::vector<double> targets;
    for (const std::size_t row : rows) {
      const std::vector<double> scaled = rows_.row(set.samples[row]);
      values.insert(values.end(), scaled.begin(), scaled.end());
      targets.push_back(log_speedup_of(set.samples[row]));
    }
    auto ensemble = learners::fit_stepwise_ensemble({values, columns().size(), targets}, options_);
    if (!ensemble.ok()) return ensemble.status();
    ensemble_ = std::move(*ensemble);
    return {};
  }
  double log_speedup(const Sample& sample) const override {
    return ensemble_.predict(rows_.row(sample), inclusion_);
  }
  std::vector<std::string> remarks() const override { return remarks_on(ensemble_, columns()); }
  std::vector<std::string> columns() const override { return rows_.names(); }
  const learners::StepwiseEnsemble* ensemble() const override { return &ensemble_; }
  void set_inclusion(double inclusion) override { inclusion_ = inclusion; }

 private:
  ScaledRows rows_;
  learners::StepwiseEnsembleOptions options_;
  learners::StepwiseEnsemble ensemble_;
  double inclusion_ = learners::StepwiseEnsemble::kInclusion;
};

// Any learner of the common interface, which counts in single precision.
class TableLearner final : public SpeedupLearner {
 public:
  TableLearner(const SpeedupOptions& options,
               std::function<std::unique_ptr<learners::Learner>(std::size_t)> make)
      : rows_(options.cpu_time, true), make_(std::move(make)) {}

  Status fit(const SampleSet& set, Span<const std::size_t> rows) override {
    if (rows.size() < set.features.names.size()) {
      return {StatusCode::invalid_argument,
              std::to_string(rows.size()) + " samples are fewer than the " +
                  std::to_string(set.features.names.size()) + " features"};
    }
    rows_.learn(set, rows);
    std::vector<float> values;
    std::vector<float> targets;
    for (const std::size_t row : rows) {
      for (const double value : rows_.row(set.samples[row]))
        values.push_back(static_cast<float>(value));
      targets.push_back(static_cast<float>(log_speedup_of(set.samples[row])));
    }
    learners::Dataset data;
    data.values = values;
    data.columns = rows_.names().size();
    data.targets = targets;
    learner_ = make_(data.columns);
    return learner_->fit(data);
  }
  double log_speedup(const Sample& sample) const override {
    return static_cast<double>(predict(sample).value);
  }
  std::vector<std::string> columns() const override { return rows_.names(); }
  double spread(const Sample& sample) const override {
    const double spread = static_cast<double>(predict(sample).spread);
    return spread > 0 ? std::max(kLeastSpread, spread) : 1;
  }

 private:
  learners::Prediction predict(const Sample& sample) const {
    std::vector<float> row;
    for (const double value : rows_.row(sample)) row.push_back(static_cast<float>(value));
    return learner_->predict(row);
  }

  ScaledRows rows_;
  std::function<std::unique_ptr<learners::Learner>(std::size_t)> make_;
  std::unique_ptr<learners::Learner> learner_;
};

class GrownForest final : public learners::Learner {
 public:
  explicit GrownForest(const learners::ForestOptions& options) : options_(options) {}
  Status fit(const learners::Dataset& data) override {
    auto grown = learners::Forest::grow(data, options_);
    if (!grown.ok()) return grown.status();
    forest_ = std::move(*grown);
    return {};
  }
  learners::Prediction predict(Span<const float> row) const override {
    return forest_.view().predict(row);
  }
  const char* name() const override { return "forest"; }

 private:
  learners::ForestOptions options_;
  learners::Forest forest_;
};

std::unique_ptr<learners::Learner> make_forest(const SpeedupOptions& options, std::size_t columns) {
  learners::ForestOptions forest;
  forest.trees = options.models;
  forest.seed = options.seed;
  forest.tree.leaf_rows = kLeafRows;
  forest.tree.candidate_features =
      static_cast<std::size_t>(std::ceil(kCandidateShare * static_cast<double>(columns)));
  return std::make_unique<GrownForest>(forest);
}

}  // namespace

FeatureScaling::FeatureScaling(const SampleSet& set, Span<const std::size_t> rows) {
  for (std::size_t j = 0; j < set.features.names.size(); ++j) {
    double least = 0;
    double largest = 0;
    for (const std::size_t row : rows) {
      least = std::min(least, set.samples[row].features[j]);
      largest = std::max(largest, set.samples[row].features[j]);
    }
    logarithmic_.push_back(least >= 0 && largest > kLargestShare);
  }
}

std::vector<double> FeatureScaling::scaled(const Sample& sample) const {
  std::vector<double> values = sample.features;
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (logarithmic_[j]) values[j] = std::log1p(std::max(0.0, values[j]));
  }
  return values;
}

std::size_t scale_feature(const FeatureSet& features) {
  for (const char* name : {"ninst", "total_instruction_count", "operations"}) {
    const std::size_t found = features.find(name);
    if (found < features.names.size()) return found;
  }
  return features.names.size();
}

Result<std::unique_ptr<SpeedupLearner>> make_speedup_learner(const SpeedupOptions& options) {
  std::unique_ptr<SpeedupLearner> learner;
  if (options.method == "published") {
    learner = std::make_unique<PublishedLearner>(options);
  } else if (options.method == "logarithm") {
    learner = std::make_unique<LogarithmLearner>(options);
  } else if (options.method == "forest") {
    learner = std::make_unique<TableLearner>(
        options, [options](std::size_t columns) { return make_forest(options, columns); });
  } else if (options.make_other && options.make_other(options.method) != nullptr) {
    learner = std::make_unique<TableLearner>(
        options, [options](std::size_t) { return options.make_other(options.method); });
  } else {
    return Status(
        StatusCode::invalid_argument,
        "no learner '" + options.method + "' (published, logarithm, forest; svr in the lab)");
  }
  return learner;
}

}  // namespace idletune::offload
