#include "agent/search/product_searcher.hpp"

#include <algorithm>
#include <cmath>

#include "models/core/digest.hpp"

namespace idletune {

namespace {

// Spread of log t(c) around log s - log q_d(c) when device d resembles this one. Kernel Tuner's
// data: 0.15 to 0.5 between GPUs of different generations; noise of one device is below 0.02.
constexpr double kLogSpread = 0.25;
// Likelihoods are raised to this power: portfolio entries are no independent draws.
constexpr double kTempering = 0.5;
// One surprising entry counts for at most this many spreads (a Huber-like cut).
constexpr double kMaxSurprise = 3.0;
// log-likelihood of a success where the source failed, or the other way round.
constexpr double kStatusSurprise = -1.5;
// Prior and floor of the "none of these" component.
constexpr double kNoneWeight = 0.15;
// Entries are ranked by the mean of q to this power: near-optimal somewhere beats mediocre everywhere.
constexpr double kSharpness = 4.0;
// The portfolio is trusted while it beats at least this share of uniform draws, pair by pair.
constexpr double kTrustShare = 0.7;
constexpr std::size_t kTrustAfter = 3;     // uniform draws before the comparison is made
constexpr std::size_t kTrustSamples = 64;  // of each kind are kept for it
constexpr std::uint64_t kDistrustEvery = 8;  // then every 8th proposal still is an entry
constexpr double kFailedTime = 1e300;

double sharpened(double q) { return std::pow(std::max(q, 0.0), kSharpness); }

}  // namespace

ProductSearcher::ProductSearcher(const Space& space, const KernelKnowledge& kernel,
                                 const SearcherOptions& options)
    : kernel_(kernel), mapping_(kernel, space, options.fallback), taken_(space),
      draws_(space, taken_, options.seed, options.random_position),
      random_every_(options.random_every),
      first_pick_(first_pick(kernel, space, options.shape, options.device, options.fallback)) {
  const std::size_t count = std::min(kernel.portfolio_size(), kMaxEntries);
  for (std::size_t i = 0; i < count; ++i) {
    if (!mapping_.map(kernel.portfolio_values(i))) continue;
    Entry entry;
    entry.number = i;
    entries_.push_back(entry);
  }
  weigh_sources();
}

std::vector<double> ProductSearcher::source_weights() const {
  return {weights_.begin(), weights_.end() - 1};
}

double ProductSearcher::weight_of_none() const { return weights_.back(); }

bool ProductSearcher::trusts_portfolio() const {
  if (random_times_.size() < kTrustAfter || guided_times_.size() < kTrustAfter) return true;
  double wins = 0;
  for (const double guided : guided_times_) {
    for (const double drawn : random_times_) wins += guided < drawn ? 1.0 : guided == drawn ? 0.5 : 0.0;
  }
  const double pairs = static_cast<double>(guided_times_.size() * random_times_.size());
  return wins >= kTrustShare * pairs;
}

bool ProductSearcher::is_random_turn() const {
  if (random_every_ == 0) return false;
  if (!trusts_portfolio()) return asks_ % kDistrustEvery != 0;
  return asks_ % random_every_ == 0;
}

// log p(what was measured | source) with the unknown scale s replaced by its best fit.
void ProductSearcher::weigh_sources() {
  const std::size_t sources = kernel_.source_count();
  weights_.assign(sources + 1, 0.0);
  double highest = 0;
  for (std::size_t d = 0; d < sources; ++d) {
    double log_likelihood = 0;
    double sum = 0;
    double count = 0;
    for (const Entry& entry : entries_) {
      if (!entry.told) continue;
      const double q = kernel_.portfolio_relative(entry.number, d);
      if (q < 0) continue;
      if (entry.failed != (q <= 0)) log_likelihood += kStatusSurprise;
      if (entry.failed || q <= 0) continue;
      sum += entry.log_time + std::log(q);
      count += 1;
    }
    const double log_scale = count > 0 ? sum / count : 0;
    for (const Entry& entry : entries_) {
      const double q = entry.told && !entry.failed ? kernel_.portfolio_relative(entry.number, d) : -1;
      if (q <= 0) continue;
      const double z = std::abs(entry.log_time + std::log(q) - log_scale) / kLogSpread;
      log_likelihood -= 0.5 * std::min(z, kMaxSurprise) * std::min(z, kMaxSurprise);
    }
    weights_[d] = kTempering * log_likelihood;
    highest = d == 0 ? weights_[d] : std::max(highest, weights_[d]);
  }
  double total = 0;
  for (std::size_t d = 0; d < sources; ++d) total += weights_[d] = std::exp(weights_[d] - highest);
  for (std::size_t d = 0; d < sources; ++d) weights_[d] *= (1 - kNoneWeight) / total;
  weights_[sources] = kNoneWeight;
}

double ProductSearcher::expected_value(const Entry& entry) const {
  const std::size_t sources = kernel_.source_count();
  const double unknown = sharpened(kernel_.portfolio_score(entry.number));
  double value = weights_[sources] * unknown;
  for (std::size_t d = 0; d < sources; ++d) {
    const double q = kernel_.portfolio_relative(entry.number, d);
    value += weights_[d] * (q < 0 ? unknown : sharpened(q));
  }
  return value;
}

std::optional<Proposal> ProductSearcher::next_entry() {
  if (first_pick_) {
    const Configuration pick = first_pick_->configuration;
    first_pick_.reset();
    if (taken_.add(pick)) return Proposal{pick, ProposalOrigin::first_pick};
  }
  if (portfolio_done_) return std::nullopt;
  std::optional<Configuration> best;
  double best_value = -1;
  for (const Entry& entry : entries_) {
    if (entry.told) continue;
    const double value = expected_value(entry);
    if (value <= best_value) continue;
    const std::optional<Configuration> mapped = mapping_.map(kernel_.portfolio_values(entry.number));
    if (!mapped || taken_.has(*mapped)) continue;
    best = mapped;
    best_value = value;
  }
  portfolio_done_ = !best;  // what was taken once never comes back
  if (!best) return std::nullopt;
  taken_.add(*best);
  return Proposal{*best, ProposalOrigin::portfolio};
}

std::optional<Proposal> ProductSearcher::next_random() {
  const std::optional<Configuration> drawn = draws_.next();
  if (!drawn) return std::nullopt;
  taken_.add(*drawn);
  if (random_times_.size() < kTrustSamples) random_keys_.push_back(digest_of(*drawn));
  return Proposal{*drawn, ProposalOrigin::random};
}

std::optional<Proposal> ProductSearcher::ask() {
  ++asks_;
  if (is_random_turn()) {
    if (std::optional<Proposal> proposal = next_random()) return proposal;
    return next_entry();
  }
  if (std::optional<Proposal> proposal = next_entry()) return proposal;
  return next_random();
}

void ProductSearcher::tell(const Configuration& configuration, const Observation& observation) {
  taken_.add(configuration);
  const bool failed = observation.status != TrialStatus::correct || observation.run_time.count() <= 0;
  const double time = failed ? kFailedTime : static_cast<double>(observation.run_time.count());
  const auto key = std::find(random_keys_.begin(), random_keys_.end(), digest_of(configuration));
  if (key != random_keys_.end()) {
    random_keys_.erase(key);
    if (random_times_.size() < kTrustSamples) random_times_.push_back(time);
    return;
  }
  for (Entry& entry : entries_) {
    const std::optional<Configuration> mapped = mapping_.map(kernel_.portfolio_values(entry.number));
    if (!mapped || *mapped != configuration) continue;
    if (!entry.told && guided_times_.size() < kTrustSamples) guided_times_.push_back(time);
    entry.told = true;
    entry.failed = failed;
    entry.log_time = failed ? 0 : std::log(time);
    weigh_sources();
    return;
  }
}

}  // namespace idletune
