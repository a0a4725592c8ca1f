#include "models/host/offload/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace idletune::offload {

namespace {

constexpr std::pair<GroupBy, const char*> kGroupNames[] = {
    {GroupBy::sample, "sample"}, {GroupBy::kernel, "kernel"},   {GroupBy::program, "program"},
    {GroupBy::suite, "suite"},   {GroupBy::network, "network"}, {GroupBy::kind, "kind"}};

constexpr std::size_t kNeighbours = 3;
// Errors grow with the distance to the nearest sample; next to one they are this share of those at
// the limit.
constexpr double kLeastStrangeness = 0.3;
// The share of the outcomes that expected regrets look at.
constexpr double kMiddle = learners::StepwiseEnsemble::kInclusion;

// Sums of shares miss whole numbers by their last bits.
constexpr double kRounding = 1e-9;

// (value, weight), ascending: the least value with that share of the weight up to it; infinity
// where all of them are too few.
double quantile_of(const std::vector<std::pair<double, double>>& ascending, double total,
                   double share) {
  double sum = 0;
  for (const auto& [value, weight] : ascending) {
    sum += weight;
    if (sum >= share * total - kRounding) return value;
  }
  return HUGE_VAL;
}

double sum_of_weights(const std::vector<std::pair<double, double>>& values) {
  double total = 0;
  for (const auto& [value, weight] : values) total += weight;
  return total;
}

// Of jackknife+ (Barber et al. 2021), one value per group: `low` and `high` are what was predicted
// without each sample, less and plus what it was then off. The group that is asked about has a
// weight, too, and nobody knows where it lies.
LogInterval interval_of(std::vector<std::pair<double, double>> low,
                        std::vector<std::pair<double, double>> high, double share) {
  for (auto& [value, weight] : low) value = -value;
  std::sort(low.begin(), low.end());
  std::sort(high.begin(), high.end());
  const double total = sum_of_weights(high) + 1;
  return {-quantile_of(low, total, share), quantile_of(high, total, share)};
}

}  // namespace

Result<GroupBy> group_by_name(const std::string& name) {
  std::string known;
  for (const auto& [group, its_name] : kGroupNames) {
    if (name == its_name) return group;
    known += (known.empty() ? "" : ", ") + std::string(its_name);
  }
  return Status(StatusCode::invalid_argument, "no group '" + name + "' (" + known + ")");
}

const char* group_by_name(GroupBy group) {
  for (const auto& [one, name] : kGroupNames) {
    if (one == group) return name;
  }
  return "";
}

const std::string& group_of(const Sample& sample, GroupBy group) {
  switch (group) {
    case GroupBy::kernel: return sample.groups.kernel;
    case GroupBy::program: return sample.groups.program;
    case GroupBy::suite: return sample.groups.suite;
    case GroupBy::network: return sample.groups.network;
    case GroupBy::kind: return sample.groups.kind;
    case GroupBy::sample: break;
  }
  return sample.name;
}

std::vector<std::vector<std::size_t>> part_by_group(const SampleSet& set,
                                                    const std::vector<std::size_t>& rows,
                                                    GroupBy group, std::size_t folds) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (const std::size_t row : rows) groups[group_of(set.samples[row], group)].push_back(row);
  std::vector<const std::vector<std::size_t>*> by_size;
  by_size.reserve(groups.size());
  for (const auto& [name, members] : groups) by_size.push_back(&members);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto* a, const auto* b) { return a->size() > b->size(); });
  std::vector<std::vector<std::size_t>> parts(std::min(folds, groups.size()));
  for (const auto* members : by_size) {
    auto& smallest =
        *std::min_element(parts.begin(), parts.end(),
                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
    smallest.insert(smallest.end(), members->begin(), members->end());
  }
  return parts;
}

Result<Predictor> Predictor::learn(const SampleSet& set, const std::vector<std::size_t>& rows,
                                   const PredictorOptions& options) {
  Predictor predictor;
  predictor.set_ = &set;
  predictor.rows_ = rows;
  auto all = make_speedup_learner(options.learner);
  if (!all.ok()) return all.status();
  if (Status status = (*all)->fit(set, rows); !status.ok()) return status;
  predictor.learner_ = std::move(*all);

  const auto parts = part_by_group(set, rows, options.group, options.folds);
  if (parts.size() < 2) {
    return Status(StatusCode::invalid_argument, std::string("all samples are of one ") +
                                                    group_by_name(options.group) +
                                                    ": no interval can be learned");
  }
  predictor.measure_distances(parts, options);
  std::map<std::string, double> sizes;
  for (const std::size_t row : rows) sizes[group_of(set.samples[row], options.group)] += 1;
  for (std::size_t fold = 0; fold < parts.size(); ++fold) {
    std::vector<std::size_t> others;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (k != fold) others.insert(others.end(), parts[k].begin(), parts[k].end());
    }
    auto learner = make_speedup_learner(options.learner);
    if (Status status = (*learner)->fit(set, others); !status.ok()) return status;
    for (const std::size_t row : parts[fold]) {
      const Sample& sample = set.samples[row];
      const double measured = std::log(sample.cpu_ms / sample.best_gpu_ms());
      const std::vector<double> point = predictor.standardized(sample);
      const double difficulty = predictor.difficulty(**learner, sample, point, fold);
      const double centre = (*learner)->log_speedup(sample);
      predictor.residuals_.push_back({fold, (measured - centre) / difficulty,
                                      1 / sizes[group_of(sample, options.group)], centre,
                                      difficulty, predictor.nearest_distance(point, fold)});
    }
    predictor.fold_learners_.push_back(std::move(*learner));
  }
  predictor.choose_certainty(options.wrong_answers);
  return predictor;
}

Result<Predictor> Predictor::learn(const SampleSet& set, const PredictorOptions& options) {
  std::vector<std::size_t> rows(set.samples.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return learn(set, rows, options);
}

// As conformal risk control (Angelopoulos et al. 2024): of what would be answered about samples
// that were left out, one more group is counted as wrong. Groups weigh the same, as one sample
// where nothing else is like it.
void Predictor::choose_certainty(double wrong_answers) {
  struct Answer {
    double certainty, weight;
    bool wrong;
  };
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < residuals_.size(); ++i) {
    const Residual& own = residuals_[i];
    if (own.distance > 1) continue;
    double above = 0;
    double total = 0;
    for (const Residual& other : residuals_) {
      if (other.fold == own.fold) continue;
      total += other.weight;
      if (own.centre + own.difficulty * other.value > 0) above += other.weight;
    }
    const double probability = above / total;
    const bool wrong = (probability > 0.5) != (own.centre + own.difficulty * own.value > 0);
    answers.push_back({std::abs(probability - 0.5), own.weight, wrong});
  }
  std::sort(answers.begin(), answers.end(),
            [](const Answer& a, const Answer& b) { return a.certainty > b.certainty; });
  certainty_.reset();
  double wrong = 1;
  double given = 1;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    given += answers[i].weight;
    if (answers[i].wrong) wrong += answers[i].weight;
    const bool last_alike =
        i + 1 == answers.size() || answers[i + 1].certainty < answers[i].certainty;
    if (last_alike && wrong <= wrong_answers * given + kRounding) certainty_ = answers[i].certainty;
  }
}

double Predictor::difficulty(const SpeedupLearner& learner, const Sample& sample,
                             const std::vector<double>& point, std::size_t fold) const {
  // The root of what it would be: a learner knows its errors only roughly.
  return std::sqrt(learner.spread(sample) *
                   (kLeastStrangeness + std::min(1.0, nearest_distance(point, fold))));
}

double Predictor::nearest_distance(const std::vector<double>& point, std::size_t fold) const {
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (folds_[i] != fold) least = std::min(least, distance(point, points_[i]));
  }
  return least / limit_;
}

void Predictor::measure_distances(const std::vector<std::vector<std::size_t>>& parts,
                                  const PredictorOptions& options) {
  std::map<std::size_t, std::size_t> fold_of;
  for (std::size_t fold = 0; fold < parts.size(); ++fold) {
    for (const std::size_t row : parts[fold]) fold_of[row] = fold;
  }
  for (const std::size_t row : rows_) folds_.push_back(fold_of[row]);
  scaling_ = FeatureScaling(*set_, rows_);
  const double count = static_cast<double>(rows_.size());
  means_.assign(scaling_.size(), 0);
  deviations_.assign(scaling_.size(), 0);
  for (const std::size_t row : rows_) points_.push_back(scaling_.scaled(set_->samples[row]));
  for (std::size_t j = 0; j < scaling_.size(); ++j) {
    for (const auto& point : points_) means_[j] += point[j] / count;
    for (const auto& point : points_)
      deviations_[j] += (point[j] - means_[j]) * (point[j] - means_[j]) / count;
    deviations_[j] = std::sqrt(deviations_[j]);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) points_[i] = standardized(set_->samples[rows_[i]]);
  // How far samples are from those of other groups: so far it was tried.
  constexpr std::size_t kTried = 400;
  const std::size_t step = std::max<std::size_t>(1, rows_.size() / kTried);
  std::vector<double> nearest;
  for (std::size_t i = 0; i < rows_.size(); i += step) {
    double least = HUGE_VAL;
    const std::string& own = group_of(set_->samples[rows_[i]], options.group);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      if (group_of(set_->samples[rows_[k]], options.group) == own) continue;
      least = std::min(least, distance(points_[i], points_[k]));
    }
    nearest.push_back(least);
  }
  std::sort(nearest.begin(), nearest.end());
  const auto place =
      static_cast<std::size_t>(options.distance_quantile * static_cast<double>(nearest.size() - 1));
  limit_ = std::max(1e-6, nearest[place]);
}

// Means of equal numbers are off by a rounding.
bool Predictor::varies(std::size_t feature) const {
  return deviations_[feature] > 1e-9 * std::max(1.0, std::abs(means_[feature]));
}

std::vector<double> Predictor::standardized(const Sample& sample) const {
  std::vector<double> point = scaling_.scaled(sample);
  for (std::size_t j = 0; j < point.size(); ++j) {
    // A feature that never varied: any other value is one that nothing is known about.
    const double off = point[j] - means_[j];
    const bool another = std::abs(off) > 1e-9 * std::max(1.0, std::abs(means_[j]));
    point[j] = varies(j) ? off / deviations_[j] : (another ? 1 : 0);
  }
  return point;
}

double Predictor::distance(const std::vector<double>& a, const std::vector<double>& b) const {
  double square = 0;
  for (std::size_t j = 0; j < a.size(); ++j) square += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(square / static_cast<double>(a.size()));
}

Predictor::Outcomes Predictor::outcomes(const Sample& sample) const {
  const std::vector<double> point = standardized(sample);
  std::vector<double> centres;
  std::vector<double> spreads;
  for (const auto& learner : fold_learners_) {
    centres.push_back(learner->log_speedup(sample));
    spreads.push_back(difficulty(*learner, sample, point, spreads.size()));
  }
  Outcomes outcomes;
  for (const Residual& residual : residuals_) {
    const double centre = centres[residual.fold];
    const double off = spreads[residual.fold] * residual.value;
    outcomes.values.emplace_back(centre + off, residual.weight);
    outcomes.low.emplace_back(centre - std::abs(off), residual.weight);
    outcomes.high.emplace_back(centre + std::abs(off), residual.weight);
  }
  std::sort(outcomes.values.begin(), outcomes.values.end());
  return outcomes;
}

SpeedupPrediction Predictor::predict(const Sample& sample, double overhead) const {
  SpeedupPrediction prediction;
  prediction.log_speedup = learner_->log_speedup(sample);
  const auto [values, lower, higher] = outcomes(sample);
  const double total = sum_of_weights(values);
  const double low = quantile_of(values, total, 0.5 - kMiddle / 2);
  const double high = quantile_of(values, total, 0.5 + kMiddle / 2);
  prediction.interval80 = interval_of(lower, higher, 0.8);
  prediction.interval90 = interval_of(lower, higher, 0.9);
  prediction.deciding = {-HUGE_VAL, HUGE_VAL};
  if (certainty_) {
    prediction.level = 2 * *certainty_;
    prediction.deciding = {quantile_of(values, total, 0.5 - *certainty_),
                           quantile_of(values, total, 0.5 + *certainty_)};
  }
  for (const auto& [value, weight] : values) {
    // A mean over times is ruled by the few worst. As in the publication's ensemble: the middle.
    const double likely = std::clamp(value, low, high);
    const double gain = 1 - overhead - std::exp(-likely);
    if (1 - overhead - std::exp(-value) > 0) prediction.probability += weight / total;
    // Nothing that is bought with more than the CPU's time can pay.
    const double log_gain = std::log(std::max(1e-9, 1 - overhead)) + value;
    (log_gain > 0 ? prediction.log_regret_keep : prediction.log_regret_offload) +=
        std::abs(log_gain) * weight / total;
    (gain > 0 ? prediction.regret_keep : prediction.regret_offload) +=
        std::abs(gain) * weight / total;
  }
  const std::vector<double> point = standardized(sample);
  std::vector<std::pair<double, std::size_t>> distances;
  for (std::size_t i = 0; i < points_.size(); ++i)
    distances.emplace_back(distance(point, points_[i]), rows_[i]);
  const std::size_t count = std::min(kNeighbours, distances.size());
  std::partial_sort(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(count),
                    distances.end());
  for (std::size_t i = 0; i < count; ++i)
    prediction.nearest.push_back(
        {set_->samples[distances[i].second].name, distances[i].first / limit_});
  prediction.distance = prediction.nearest.front().distance;
  return prediction;
}

}  // namespace idletune::offload
