#include "agent/search/portfolio_regression.hpp"

#include <idletune/aims.hpp>

#include <algorithm>
#include <cmath>

namespace idletune {
namespace {

// History expects the weighted mean of q^4 of an entry: near the best somewhere beats mediocre
// everywhere.
constexpr double kSharpness = 4;
// q below this counts as this: how bad a bad entry is says nothing about the good ones.
constexpr double kFloor = 0.2;
// Standard deviations beforehand: of the sources' coefficients (times the root of their weight), of
// all parameters' effects together, of the scale, of what nothing explains.
constexpr double kSourceSpread = 1.5;
constexpr double kParameterSpread = 0.2;
constexpr double kScaleSpread = 2.0;
constexpr double kNoise = 0.05;
// What lies further from the best is explained less well, and matters less: noise per unit of it.
constexpr double kNoisePerDistance = 0.2;
// ln 0.4: an entry that failed, or took longer, is told as one this far from the best.
constexpr double kFurthest = 0.916290731874155;

double sharp(double q) {
  const double square = q * q;
  return square * square;
}
static_assert(kSharpness == 4, "the power above");

double normal_density(double z) { return 0.3989422804014327 * std::exp(-z * z / 2); }
double normal_below(double z) { return 0.5 * std::erfc(-z * 0.7071067811865476); }

}  // namespace

PortfolioRegression::PortfolioRegression(const KernelKnowledge& kernel,
                                         const std::vector<double>& weights, std::size_t entries)
    : kernel_(kernel), entries_(std::min(entries, kernel.portfolio_size())) {
  choose_sources(weights);
  code_entries(weights);
  code_parameters();
  set_priors();
}

// The heaviest, heaviest first; of equal ones those that the model names first.
void PortfolioRegression::choose_sources(const std::vector<double>& weights) {
  for (std::size_t d = 0; d < weights.size(); ++d) {
    std::size_t place = sources_.size();
    while (place > 0 && weights[sources_[place - 1]] < weights[d]) --place;
    if (place == kMaxSources) continue;
    if (sources_.size() == kMaxSources) sources_.pop_back();
    sources_.insert(sources_.begin() + static_cast<std::ptrdiff_t>(place), d);
  }
}

// What is expected of each entry, and how each source deviates from that. Sources that did not
// measure an entry say nothing about it; where nobody did, its stored score counts.
void PortfolioRegression::code_entries(const std::vector<double>& weights) {
  double all = 0;
  for (const double weight : weights) all += weight;
  for (std::size_t e = 0; e < entries_; ++e) {
    const Span<const float> q = kernel_.portfolio_row(e);
    double sum = 0;
    double total = 0;
    for (std::size_t d = 0; d < weights.size(); ++d) {
      if (q[d] < 0) continue;
      sum += weights[d] * sharp(std::max(kFloor, static_cast<double>(q[d])));
      total += weights[d];
    }
    const double score = std::max(kFloor, kernel_.portfolio_score(e));
    const double mean = total > 0 ? std::log(sum / total) / kSharpness : std::log(score);
    expected_.push_back(static_cast<float>(-mean));
    for (const std::size_t d : sources_) {
      const double log_q = std::log(std::max(kFloor, static_cast<double>(q[d])));
      const double share = all > 0 ? weights[d] / all : 0;
      deviations_.push_back(q[d] < 0 ? 0.0f
                                     : static_cast<float>(std::sqrt(share) * (mean - log_q)));
    }
  }
}

// Each value of a parameter becomes a level, by rank; parameters with very many values share
// levels between neighbouring ones. Beyond kMaxParameters, parameters have no effect of their own.
void PortfolioRegression::code_parameters() {
  struct Column {
    std::size_t parameter;
    std::vector<std::int64_t> values;  // ascending
  };
  std::vector<Column> columns;
  for (std::size_t p = 0; p < kernel_.parameter_count() && columns.size() < kMaxParameters; ++p) {
    Column column{p, {}};
    for (std::size_t e = 0; e < entries_; ++e) {
      const std::int64_t value = kernel_.portfolio_values(e)[p];
      const auto place = std::lower_bound(column.values.begin(), column.values.end(), value);
      if (place == column.values.end() || *place != value) column.values.insert(place, value);
    }
    if (column.values.size() > 1) columns.push_back(std::move(column));
  }
  parameters_ = columns.size();
  features_ = 1 + sources_.size();
  if (parameters_ == 0) return;
  levels_.resize(entries_ * parameters_);
  const std::size_t room = (kMaxFeatures - features_) / parameters_;
  for (std::size_t c = 0; c < parameters_; ++c) {
    const std::vector<std::int64_t>& values = columns[c].values;
    const std::size_t count = std::min({values.size(), room, kMaxLevels});
    for (std::size_t e = 0; e < entries_; ++e) {
      const std::int64_t value = kernel_.portfolio_values(e)[columns[c].parameter];
      const auto rank = static_cast<std::size_t>(
          std::lower_bound(values.begin(), values.end(), value) - values.begin());
      levels_[e * parameters_ + c] = static_cast<std::uint8_t>(rank * count / values.size());
    }
    first_feature_.push_back(static_cast<std::uint32_t>(features_));
    level_counts_.push_back(static_cast<std::uint8_t>(count));
    features_ += count;
  }
}

// Scale, sources, and for each parameter levels whose effects are the more alike the nearer they
// are (an exponential kernel over their ranks, its reach the whole range).
void PortfolioRegression::set_priors() {
  coefficients_.assign(features_, 0.0f);
  covariance_.assign(features_ * features_, 0.0f);
  covariance_[0] = static_cast<float>(kScaleSpread * kScaleSpread);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const std::size_t f = 1 + i;
    covariance_[f * features_ + f] = static_cast<float>(kSourceSpread * kSourceSpread);
  }
  const double variance =
      kParameterSpread * kParameterSpread / static_cast<double>(parameters_ > 0 ? parameters_ : 1);
  for (std::size_t p = 0; p < parameters_; ++p) {
    const std::size_t first = first_feature_[p];
    const std::size_t count = level_counts_[p];
    const double reach = static_cast<double>(std::max<std::size_t>(count - 1, 1));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        const double apart = static_cast<double>(i > j ? i - j : j - i) / reach;
        covariance_[(first + i) * features_ + first + j] =
            static_cast<float>(variance * std::exp(-apart));
      }
    }
  }
}

PortfolioRegression::Row PortfolioRegression::row(std::size_t entry) const {
  Row row;
  row.inputs[row.count++] = {0, 1.0f};
  const float* deviations = deviations_.data() + entry * sources_.size();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    row.inputs[row.count++] = {static_cast<std::uint32_t>(1 + i), deviations[i]};
  }
  const std::uint8_t* levels = levels_.data() + entry * parameters_;
  for (std::size_t p = 0; p < parameters_; ++p) {
    row.inputs[row.count++] = {first_feature_[p] + levels[p], 1.0f};
  }
  return row;
}

// One step of recursive least squares (a Kalman update with a scalar measurement).
void PortfolioRegression::learn(std::size_t entry, double log_time, double distance) {
  const double noise = kNoisePerDistance * distance;
  const Row x = row(entry);
  std::vector<float> gain(features_, 0.0f);
  float predicted = expected_[entry];
  for (std::size_t i = 0; i < x.count; ++i) {
    const float* covariance = covariance_.data() + x.inputs[i].feature * features_;
    const float value = x.inputs[i].value;
    for (std::size_t f = 0; f < features_; ++f) gain[f] += value * covariance[f];
    predicted += value * coefficients_[x.inputs[i].feature];
  }
  float variance = static_cast<float>(kNoise * kNoise + noise * noise);
  for (std::size_t i = 0; i < x.count; ++i) {
    variance += x.inputs[i].value * gain[x.inputs[i].feature];
  }
  const float surprise = (static_cast<float>(log_time) - predicted) / variance;
  for (std::size_t f = 0; f < features_; ++f) {
    coefficients_[f] += gain[f] * surprise;
    const float share = gain[f] / variance;
    float* covariance = covariance_.data() + f * features_;
    for (std::size_t g = 0; g < features_; ++g) covariance[g] -= share * gain[g];
  }
}

void PortfolioRegression::tell(std::size_t entry, double time_ns) {
  if (entry >= entries_ || !(time_ns > 0)) return;
  const double log_time = std::log(time_ns);
  if (!has_best_) {
    has_best_ = true;
    offset_ = log_time;
  }
  const double here = log_time - offset_;
  const double distance = std::min(std::max(here - best_, 0.0), kFurthest);
  learn(entry, std::min(here, best_ + kFurthest), distance);
  best_ = std::min(best_, here);
  for (const std::uint32_t failed : failures_) learn(failed, best_ + kFurthest, kFurthest);
  failures_.clear();
}

void PortfolioRegression::tell_failed(std::size_t entry) {
  if (entry >= entries_) return;
  if (has_best_) {
    learn(entry, best_ + kFurthest, kFurthest);
  } else {
    failures_.push_back(static_cast<std::uint32_t>(entry));
  }
}

PortfolioRegression::Prediction PortfolioRegression::predict(std::size_t entry) const {
  const Row x = row(entry);
  float mean = expected_[entry];
  float variance = static_cast<float>(kNoise * kNoise);
  for (std::size_t i = 0; i < x.count; ++i) {
    const float* covariance = covariance_.data() + x.inputs[i].feature * features_;
    const float value = x.inputs[i].value;
    mean += value * coefficients_[x.inputs[i].feature];
    float sum = 0.5f * value * covariance[x.inputs[i].feature];
    for (std::size_t j = 0; j < i; ++j) {
      sum += x.inputs[j].value * covariance[x.inputs[j].feature];
    }
    variance += 2 * value * sum;
  }
  const float least = static_cast<float>(kNoise * kNoise);  // rounding may take more
  return {offset_ + static_cast<double>(mean),
          static_cast<double>(std::sqrt(std::max(variance, least)))};
}

double PortfolioRegression::value(std::size_t entry) const {
  if (!has_best_) return static_cast<double>(-expected_[entry]);
  const Prediction prediction = predict(entry);
  const double ahead = offset_ + best_ - kAdoptionMargin - prediction.mean;
  const double z = ahead / prediction.deviation;
  return ahead * normal_below(z) + prediction.deviation * normal_density(z);
}

std::size_t PortfolioRegression::bytes() const {
  return sizeof *this + covariance_.capacity() * sizeof(float) +
         coefficients_.capacity() * sizeof(float) + deviations_.capacity() * sizeof(float) +
         expected_.capacity() * sizeof(float) + levels_.capacity() +
         first_feature_.capacity() * sizeof(std::uint32_t) + level_counts_.capacity() +
         sources_.capacity() * sizeof(std::size_t) + failures_.capacity() * sizeof(std::uint32_t);
}

}  // namespace idletune
