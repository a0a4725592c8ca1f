#include "agent/search/forest_proposals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/core/lists.hpp"

namespace idletune {

namespace {

using learners::Dataset;
using learners::FollowedPredictions;
using learners::Forest;
using learners::ForestOptions;
using learners::SlicedRows;

constexpr std::size_t kMaxForestBytes = std::size_t{384} << 10;
constexpr std::size_t kMaxBytes = std::size_t{512} << 10;  // promised in <idletune/learning.hpp>
// Of those: what does not grow with rows or columns.
constexpr std::size_t kFixedBytes = std::size_t{12} << 10;
// Standard deviations below the mean that a candidate is credited with.
constexpr float kOptimism = 0.7f;
// Of the candidates with the best means, so many are looked at closely.
constexpr std::size_t kShortlist = 192;
// Larger than any target: ln of a rank, or a clipped residual.
constexpr float kTargetScale = 8.0f;
// A residual beyond this factor of e says no more than "far off".
constexpr double kMaxResidual = 4.0;
// A failure is taken to be this factor of e slower than the slowest that ran.
constexpr double kFailurePenalty = 0.7;
// Trees renewed per proposal times (measurements + kTreeOverhead), so that a proposal costs about
// the same however many measurements there are.
constexpr std::size_t kRenewalWork = 600;
constexpr std::size_t kTreeOverhead = 40;
constexpr std::size_t kMinRenewals = 2;
// Spaces that are not followed: candidates of a step.
constexpr std::size_t kFresh = 160;
constexpr std::size_t kKept = 160;
constexpr std::size_t kCentres = 4;  // the best measurements, whose neighbours are looked at
constexpr std::size_t kNeighboursEach = 24;  // as many by one parameter as by two and by three
constexpr int kNeighbourAttempts = 16;
constexpr int kUnnumberedFresh = 16;  // sampling such spaces may take long

constexpr std::uint64_t kSampleSeed = 0x73616d706c65ull;
constexpr std::uint64_t kFloatDigits = std::uint64_t{1} << 32;

std::uint32_t low_bits(std::uint64_t x) { return static_cast<std::uint32_t>(x % kFloatDigits); }

}  // namespace

ForestProposals::ForestProposals(const Space& space, ForestProposalOptions options)
    : space_(space),
      options_(std::move(options)),
      random_(options_.seed),
      coding_(space),
      sample_(coding_.columns(), options_.seed ^ kSampleSeed),
      taken_(space),
      neighbours_(space) {
  if (space.indexed() && space.valid_count() > 0 && space.valid_count() <= kMaxFollowed) {
    slice_space();
  }
}

void ForestProposals::slice_space() {
  const auto count = static_cast<std::size_t>(space_.valid_count());
  const std::size_t others = bytes_besides_rows(count);
  Result<SlicedRows> rows =
      SlicedRows::zeros(coding_.levels(), count, kMaxBytes - std::min(others, kMaxBytes));
  if (!rows.ok()) return;
  std::vector<std::uint16_t> codes(coding_.columns());
  Space::Cursor cursor = space_.cursor();
  Configuration configuration;
  std::vector<bool> unknown;
  if (options_.prior) {
    row_priors_.resize(count);
    unknown.resize(count);
  }
  for (std::size_t row = 0; row < count && cursor.next(configuration); ++row) {
    if (!coding_.code(configuration, codes)) return;
    rows->set(row, codes);
    if (!options_.prior) continue;
    const std::optional<float> prior = options_.prior(configuration);
    unknown[row] = !prior || !std::isfinite(*prior);
    if (unknown[row]) continue;
    row_priors_[row] = *prior;
    prior_sum_ += static_cast<double>(*prior);
    ++priors_known_;
  }
  const float mean =
      priors_known_ > 0 ? static_cast<float>(prior_sum_ / static_cast<double>(priors_known_)) : 0;
  for (std::size_t row = 0; row < unknown.size(); ++row) {
    if (unknown[row]) row_priors_[row] = mean;
  }
  taken_rows_.resize(count);
  rows_ = std::move(*rows);
}

// Once as much is measured as is kept.
std::size_t ForestProposals::bytes_besides_rows(std::size_t count) const {
  constexpr std::size_t kMeasured = MeasuredSample::kBest + MeasuredSample::kOthers;
  const std::size_t columns = coding_.columns();
  ForestOptions forest;
  forest.trees = kTrees;
  const std::size_t row = sizeof(std::int32_t) + (options_.prior ? sizeof(float) : 0);  // its mean
  // Training data may have room for twice as many.
  return kFixedBytes + Forest::bytes_needed(kMeasured, columns, 0, forest) +
         kMeasured * columns * (sizeof(std::uint16_t) + 2 * sizeof(float)) + count * row +
         count / 8;
}

float ForestProposals::prior_of(const Configuration& configuration) {
  if (!options_.prior) return 0;
  const std::optional<float> prior = options_.prior(configuration);
  if (prior && std::isfinite(*prior)) {
    prior_sum_ += static_cast<double>(*prior);
    ++priors_known_;
    return *prior;
  }
  return priors_known_ > 0 ? static_cast<float>(prior_sum_ / static_cast<double>(priors_known_))
                           : 0;
}

void ForestProposals::exclude(const Configuration& configuration) {
  if (!follows()) {
    taken_.add(configuration);
    return;
  }
  const std::optional<std::uint64_t> number = space_.index_of(configuration);
  if (number) taken_rows_[static_cast<std::size_t>(*number)] = true;
}

void ForestProposals::tell(const Configuration& configuration, const Observation& observation) {
  std::vector<std::uint16_t> codes(coding_.columns());
  if (!coding_.code(configuration, codes) || !space_.contains(configuration)) return;
  exclude(configuration);
  const double log_time = observation.failed()
                              ? std::numeric_limits<double>::infinity()
                              : std::log(static_cast<double>(observation.run_time.count()));
  float prior = 0;
  if (!row_priors_.empty()) {
    prior = row_priors_[static_cast<std::size_t>(space_.index_of(configuration).value_or(0))];
  } else {
    prior = prior_of(configuration);
  }
  sample_.add(codes, log_time, prior);
}

// ln of each measurement's rank among those kept: nothing but their order counts, and the
// differences between the best count most. Equal times have equal ranks, failures the last.
void ForestProposals::set_rank_targets() {
  const std::size_t n = sample_.size();
  std::vector<std::uint16_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint16_t>(i);
  std::sort(order.begin(), order.end(), [&](std::uint16_t a, std::uint16_t b) {
    const double x = sample_.log_time(a), y = sample_.log_time(b);
    return x != y ? x < y : a < b;
  });
  float rank = 0;
  double previous = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    const double log_time = sample_.log_time(order[i]);
    if (log_time != previous) rank = std::log(static_cast<float>(i + 1));
    previous = log_time;
    targets_[order[i]] = std::isfinite(log_time) ? rank : std::log(static_cast<float>(n));
  }
}

// How much slower each measurement was than its prior says, less the median of that.
void ForestProposals::set_residual_targets() {
  const std::size_t n = sample_.size();
  double slowest = -std::numeric_limits<double>::infinity();
  std::vector<double> residuals;
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(sample_.log_time(i))) continue;
    slowest = std::max(slowest, sample_.log_time(i));
    residuals.push_back(sample_.log_time(i) - static_cast<double>(sample_.prior(i)));
  }
  const auto middle = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
  std::nth_element(residuals.begin(), middle, residuals.end());
  for (std::size_t i = 0; i < n; ++i) {
    const double log_time = std::min(sample_.log_time(i), slowest + kFailurePenalty);
    const double residual = log_time - static_cast<double>(sample_.prior(i)) - *middle;
    targets_[i] = static_cast<float>(std::clamp(residual, -kMaxResidual, kMaxResidual));
  }
}

void ForestProposals::forget_prior() {
  options_.prior = nullptr;
  row_priors_.clear();
  std::fill(pool_.priors.begin(), pool_.priors.end(), 0.0f);
  predictions_.reset();
  forest_ = Forest();
}

std::size_t ForestProposals::renewals() const {
  return std::clamp(kRenewalWork / (sample_.size() + kTreeOverhead), kMinRenewals, kTrees);
}

// Renews the oldest trees with all that is known; false if there is nothing to learn from yet.
bool ForestProposals::learn() {
  if (sample_.correct() < 2) return false;
  const std::size_t n = sample_.size();
  values_.resize(n * coding_.columns());
  targets_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Span<const std::uint16_t> codes = sample_.codes(i);
    std::copy(codes.begin(), codes.end(),
              values_.begin() + static_cast<std::ptrdiff_t>(i * coding_.columns()));
  }
  if (options_.prior) {
    set_residual_targets();
  } else {
    set_rank_targets();
  }
  const Dataset data{values_, coding_.columns(), {}, targets_, 0};
  if (!forest_.empty()) return forest_.renew(data, renewals(), predictions_.get()).ok();
  ForestOptions options;
  options.trees = kTrees;
  options.seed = options_.seed;
  options.max_bytes = kMaxForestBytes;
  Result<Forest> grown = Forest::grow(data, options);
  if (!grown.ok()) return false;
  forest_ = std::move(*grown);
  if (follows()) {
    predictions_ = std::make_unique<FollowedPredictions>(*rows_, forest_.view(), kTargetScale);
  }
  return true;
}

std::optional<Configuration> ForestProposals::propose() {
  if (!learn()) return std::nullopt;
  return follows() ? propose_followed() : propose_sampled();
}

float ForestProposals::bound_of(Span<const float> row, float prior) const {
  const learners::Prediction predicted = forest_.view().predict(row);
  return prior + predicted.value - kOptimism * predicted.spread;
}

// The rows with the best means; of equal means any.
void ForestProposals::shorten_list() {
  const auto worse = [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.tie < b.tie;
  };
  list_.clear();
  const std::size_t count = rows_->rows();
  for (std::size_t row = 0; row < count; ++row) {
    if (taken_rows_[row]) continue;
    float mean = predictions_->mean(row);
    if (!row_priors_.empty()) mean += row_priors_[row];
    const bool full = list_.size() == kShortlist;
    if (full && mean > list_.front().score) continue;
    const Candidate candidate{mean, low_bits(random_.next()), static_cast<std::uint32_t>(row)};
    if (full) {
      if (!worse(candidate, list_.front())) continue;
      std::pop_heap(list_.begin(), list_.end(), worse);
      list_.pop_back();
    }
    list_.push_back(candidate);
    std::push_heap(list_.begin(), list_.end(), worse);
  }
}

std::optional<Configuration> ForestProposals::propose_followed() {
  shorten_list();
  std::vector<float> row(coding_.columns());
  const Candidate* best = nullptr;
  for (Candidate& candidate : list_) {
    rows_->get(candidate.at, row);
    candidate.score = bound_of(row, row_priors_.empty() ? 0.0f : row_priors_[candidate.at]);
    if (best == nullptr || candidate.score < best->score ||
        (candidate.score == best->score && candidate.tie < best->tie)) {
      best = &candidate;
    }
  }
  if (best == nullptr) return std::nullopt;
  taken_rows_[best->at] = true;
  return space_.at(best->at);
}

void ForestProposals::add_candidate(const Configuration& configuration) {
  const std::optional<std::uint64_t> id = taken_.identify(configuration);
  if (!id || taken_.has_number(*id)) return;
  const std::size_t begin = pool_.ids.size() * coding_.columns();
  pool_.codes.resize(begin + coding_.columns());
  if (!coding_.code(configuration, {pool_.codes.data() + begin, coding_.columns()})) {
    pool_.codes.resize(begin);
    return;
  }
  push(pool_.ids, *id);
  pool_.priors.push_back(prior_of(configuration));
}

void ForestProposals::refill_pool() {
  if (space_.indexed()) {
    for (std::size_t i = 0; i < kFresh; ++i) {
      add_candidate(space_.at(random_.below(space_.valid_count())));
    }
  } else {
    for (int i = 0; i < kUnnumberedFresh; ++i) add_candidate(space_.sample(random_));
  }
  for (std::size_t centre = 0; centre < std::min(kCentres, sample_.size()); ++centre) {
    const Configuration around = coding_.decode(sample_.codes(centre));
    for (std::size_t i = 0; i < kNeighboursEach; ++i) {
      const auto neighbour = neighbours_.draw(around, random_, kNeighbourAttempts,
                                              1 + i % Neighbours::kMaxDifferences);
      if (neighbour) add_candidate(*neighbour);
    }
  }
}

// The best of the pool; the next best stay in it for the next time.
std::optional<Configuration> ForestProposals::propose_sampled() {
  if (space_.indexed() && space_.valid_count() == 0) return std::nullopt;
  refill_pool();
  const std::size_t columns = coding_.columns();
  std::vector<float> row(columns);
  list_.clear();
  for (std::size_t i = 0; i < pool_.ids.size(); ++i) {
    if (taken_.has_number(pool_.ids[i])) continue;
    std::copy_n(pool_.codes.begin() + static_cast<std::ptrdiff_t>(i * columns), columns,
                row.begin());
    const std::uint64_t tie = Random(options_.seed ^ pool_.ids[i]).next();
    list_.push_back({bound_of(row, pool_.priors[i]), low_bits(tie), static_cast<std::uint32_t>(i)});
  }
  std::sort(list_.begin(), list_.end(), [&](const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score < b.score;
    return a.tie != b.tie ? a.tie < b.tie : pool_.ids[a.at] < pool_.ids[b.at];
  });
  // A configuration that was drawn twice stands beside itself.
  list_.erase(std::unique(list_.begin(), list_.end(),
                          [&](const Candidate& a, const Candidate& b) {
                            return pool_.ids[a.at] == pool_.ids[b.at];
                          }),
              list_.end());
  if (list_.size() > kKept + 1) list_.resize(kKept + 1);
  Pool kept;
  for (const Candidate& candidate : list_) {
    const auto begin = pool_.codes.begin() + static_cast<std::ptrdiff_t>(candidate.at * columns);
    kept.codes.insert(kept.codes.end(), begin, begin + static_cast<std::ptrdiff_t>(columns));
    push(kept.ids, pool_.ids[candidate.at]);
    kept.priors.push_back(pool_.priors[candidate.at]);
  }
  pool_ = std::move(kept);
  if (pool_.ids.empty()) return std::nullopt;
  taken_.add_number(pool_.ids[0]);
  return coding_.decode({pool_.codes.data(), columns});
}

std::size_t ForestProposals::bytes() const {
  std::size_t bytes =
      sizeof(ForestProposals) + sample_.bytes() +
      (values_.capacity() + targets_.capacity()) * sizeof(float) +
      list_.capacity() * sizeof(Candidate) + taken_rows_.capacity() / 8 +
      row_priors_.capacity() * sizeof(float) + pool_.codes.capacity() * sizeof(std::uint16_t) +
      pool_.ids.capacity() * sizeof(std::uint64_t) + pool_.priors.capacity() * sizeof(float);
  if (rows_) bytes += rows_->bytes();
  if (predictions_) bytes += predictions_->bytes();
  if (!forest_.empty()) {
    bytes += Forest::bytes_needed(sample_.size(), coding_.columns(), 0, forest_.options());
  }
  return bytes;
}

}  // namespace idletune
