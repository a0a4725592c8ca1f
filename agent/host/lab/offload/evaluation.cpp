#include "agent/host/lab/offload/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "models/core/median.hpp"
#include "models/core/random.hpp"

namespace idletune::offload {

namespace {

constexpr std::size_t kRandomParts = 10;
constexpr std::size_t kRiskPoints = 20;

using Parts = std::vector<std::vector<std::size_t>>;

Result<std::vector<LeftOut>> leave_parts_out(
    const SampleSet& set, const Parts& parts, GroupBy group, const PredictorOptions& options,
    const std::function<bool(std::size_t, std::size_t)>& progress) {
  std::vector<LeftOut> results;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::vector<std::size_t> others;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (k != i) others.insert(others.end(), parts[k].begin(), parts[k].end());
    }
    std::sort(others.begin(), others.end());
    auto predictor = Predictor::learn(set, others, options);
    if (!predictor.ok()) return predictor.status();
    for (const std::size_t row : parts[i]) {
      results.push_back(
          {row, group_of(set.samples[row], group), predictor->predict(set.samples[row])});
    }
    if (progress && !progress(i + 1, parts.size())) break;
  }
  std::sort(results.begin(), results.end(),
            [](const LeftOut& a, const LeftOut& b) { return a.sample < b.sample; });
  return results;
}

std::vector<std::size_t> all_rows(const SampleSet& set) {
  std::vector<std::size_t> rows(set.samples.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// Sums over samples; divided at the end.
struct Sums {
  double best = 0;
  double chosen = 0;
  double cpu = 0;
  double gpu = 0;
  double log_chosen = 0;
  double log_cpu = 0;
  double log_gpu = 0;
};

void add_choice(const Sample& sample, const LeftOut& one, Sums& sums) {
  const double gpu = sample.best_gpu_ms();
  const double best = std::min(sample.cpu_ms, gpu);
  const double chosen = one.offload() ? gpu : sample.cpu_ms;
  sums.best += best;
  sums.chosen += chosen;
  sums.cpu += sample.cpu_ms;
  sums.gpu += gpu;
  sums.log_chosen += std::log((one.offload_alike() ? gpu : sample.cpu_ms) / best);
  sums.log_cpu += std::log(sample.cpu_ms / best);
  sums.log_gpu += std::log(gpu / best);
}

bool is_wrong(const Sample& sample, bool offload) {
  return offload != (sample.best_gpu_ms() < sample.cpu_ms);
}

bool inside(const LogInterval& interval, double value) {
  return value >= interval.low && value <= interval.high;
}

}  // namespace

bool LeftOut::unknown() const {
  return prediction.distance > 1 || (prediction.deciding.low <= 0 && prediction.deciding.high >= 0);
}

Result<std::vector<LeftOut>> leave_out(
    const SampleSet& set, GroupBy group, std::size_t folds, const PredictorOptions& options,
    const std::function<bool(std::size_t, std::size_t)>& progress) {
  PredictorOptions grouped = options;
  grouped.group = group;
  const Parts parts = part_by_group(set, all_rows(set), group,
                                    folds == 0 ? std::numeric_limits<std::size_t>::max() : folds);
  if (parts.size() < 2) {
    return Status(
        StatusCode::invalid_argument,
        std::string("all samples are of one ") + group_by_name(group) + ": none can be left out");
  }
  return leave_parts_out(set, parts, group, grouped, progress);
}

Result<std::vector<LeftOut>> leave_random_out(const SampleSet& set,
                                              const PredictorOptions& options) {
  PredictorOptions single = options;
  single.group = GroupBy::sample;
  const Permutation order(set.samples.size(), options.learner.seed);
  Parts parts(std::min(kRandomParts, set.samples.size()));
  for (std::size_t i = 0; i < set.samples.size(); ++i)
    parts[i % parts.size()].push_back(static_cast<std::size_t>(order(i)));
  return leave_parts_out(set, parts, GroupBy::sample, single, nullptr);
}

Figures figures_of(const SampleSet& set, const std::vector<LeftOut>& results) {
  Figures figures;
  std::set<std::string> groups;
  std::vector<double> errors;
  std::vector<double> widths;
  Sums sums;
  std::size_t answered = 0;
  double answered_covered = 0;
  const double count = static_cast<double>(results.size());
  for (const LeftOut& one : results) {
    const Sample& sample = set.samples[one.sample];
    const SpeedupPrediction& prediction = one.prediction;
    const double measured = std::log(sample.cpu_ms / sample.best_gpu_ms());
    const double too_long = measured - prediction.log_speedup;  // ln(predicted time / time)
    groups.insert(one.group);
    errors.push_back(std::abs(std::exp(too_long) - 1));
    figures.error_mean += errors.back() / count;
    figures.error_published += std::abs(1 - std::exp(-too_long)) / count;
    figures.error_log += std::abs(too_long) / count;
    const bool covered = inside(prediction.interval80, measured);
    figures.coverage80 += covered ? 1 / count : 0;
    figures.coverage90 += inside(prediction.interval90, measured) ? 1 / count : 0;
    widths.push_back(std::exp(prediction.interval80.high - prediction.interval80.low));
    add_choice(sample, one, sums);
    figures.right += is_wrong(sample, one.offload_alike()) ? 0 : 1 / count;
    if (one.unknown()) continue;
    ++answered;
    answered_covered += covered ? 1 : 0;
    figures.wrong += is_wrong(sample, prediction.deciding.low > 0) ? 1 : 0;
  }
  figures.groups = groups.size();
  figures.samples = results.size();
  figures.error_median = median_of(errors);
  figures.width80 = median_of(widths);
  figures.unknown = 1 - static_cast<double>(answered) / count;
  figures.wrong = answered > 0 ? figures.wrong / static_cast<double>(answered) : 0;
  figures.coverage80_answered = answered > 0 ? answered_covered / static_cast<double>(answered)
                                             : std::numeric_limits<double>::quiet_NaN();
  figures.ratio = sums.chosen / sums.best;
  figures.always_cpu = sums.cpu / sums.best;
  figures.always_gpu = sums.gpu / sums.best;
  figures.ratio_geometric = std::exp(sums.log_chosen / count);
  figures.always_cpu_geometric = std::exp(sums.log_cpu / count);
  figures.always_gpu_geometric = std::exp(sums.log_gpu / count);
  return figures;
}

std::vector<RiskPoint> risk_curve(const SampleSet& set, const std::vector<LeftOut>& results) {
  std::vector<const LeftOut*> certain;
  certain.reserve(results.size());
  for (const LeftOut& one : results) certain.push_back(&one);
  const auto certainty = [](const LeftOut* one) {
    return std::abs(one->prediction.probability - 0.5);
  };
  std::stable_sort(certain.begin(), certain.end(),
                   [&](const LeftOut* a, const LeftOut* b) { return certainty(a) > certainty(b); });
  std::vector<RiskPoint> points;
  double wrong = 0;
  double regret = 0;
  double expected = 0;
  std::size_t next = 1;
  for (std::size_t i = 0; i < certain.size(); ++i) {
    const Sample& sample = set.samples[certain[i]->sample];
    const SpeedupPrediction& prediction = certain[i]->prediction;
    const bool offload = prediction.probability > 0.5;
    expected += sample.cpu_ms * (offload ? prediction.regret_offload : prediction.regret_keep);
    if (is_wrong(sample, offload)) {
      wrong += 1;
      regret += std::abs(sample.cpu_ms - sample.best_gpu_ms());
    }
    while (next <= kRiskPoints && (i + 1) * kRiskPoints >= next * certain.size()) {
      const double given = static_cast<double>(i + 1);
      points.push_back({given / static_cast<double>(certain.size()), wrong / given, regret / given,
                        expected / given});
      ++next;
    }
  }
  return points;
}

}  // namespace idletune::offload
