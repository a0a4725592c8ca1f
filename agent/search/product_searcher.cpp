#include "agent/search/product_searcher.hpp"

#include <algorithm>
#include <cmath>

#include "models/core/digest.hpp"

namespace idletune {

namespace {

// The portfolio is trusted while it beats at least this share of uniform draws, pair by pair.
constexpr double kTrustShare = 0.7;
constexpr std::size_t kTrustAfter = 3;       // uniform draws before the comparison is made
constexpr std::size_t kTrustSamples = 64;    // of each kind are kept for it
constexpr std::uint64_t kDistrustEvery = 8;  // then every 8th proposal still is an entry
constexpr double kFailedTime = 1e300;

}  // namespace

ProductSearcher::ProductSearcher(const Space& space, const KernelKnowledge& kernel,
                                 const SearcherOptions& options)
    : kernel_(kernel),
      mapping_(kernel, space, options.fallback),
      taken_(space),
      draws_(space, taken_, options.seed, options.random_position),
      random_every_(options.random_every),
      first_pick_(first_pick(kernel, space, options.shape, options.device, options.fallback)),
      beliefs_(kernel) {
  for (std::size_t i = 0; i < beliefs_.entry_count(); ++i) {
    const std::optional<Configuration> mapped = mapping_.map(kernel_.portfolio_values(i));
    if (!mapped) beliefs_.take(i);
    entry_keys_.push_back(mapped ? digest_of(*mapped) : 0);
  }
}

SearchOutlook ProductSearcher::outlook() const {
  SearchOutlook outlook;
  outlook.beliefs = &beliefs_;
  if (random_every_ > 0) {
    const double others =
        1.0 / static_cast<double>(trusts_portfolio() ? random_every_ : kDistrustEvery);
    outlook.random_share = trusts_portfolio() ? others : 1 - others;
  } else {
    outlook.random_share = 0;
  }
  return outlook;
}

bool ProductSearcher::trusts_portfolio() const {
  if (random_times_.size() < kTrustAfter || guided_times_.size() < kTrustAfter) return true;
  double wins = 0;
  for (const double guided : guided_times_) {
    for (const double drawn : random_times_)
      wins += guided < drawn ? 1.0 : guided == drawn ? 0.5 : 0.0;
  }
  const double pairs = static_cast<double>(guided_times_.size() * random_times_.size());
  return wins >= kTrustShare * pairs;
}

bool ProductSearcher::is_random_turn() const {
  if (random_every_ == 0) return false;
  if (!trusts_portfolio()) return asks_ % kDistrustEvery != 0;
  return asks_ % random_every_ == 0;
}

std::optional<Proposal> ProductSearcher::next_entry() {
  if (first_pick_) {
    const Configuration pick = first_pick_->configuration;
    first_pick_.reset();
    if (taken_.add(pick)) return Proposal{pick, ProposalOrigin::first_pick};
  }
  DevicePosterior::Forecast best;
  while (beliefs_.upcoming({&best, 1}) > 0) {
    beliefs_.take(best.entry);
    const std::optional<Configuration> mapped = mapping_.map(kernel_.portfolio_values(best.entry));
    if (mapped && taken_.add(*mapped)) return Proposal{*mapped, ProposalOrigin::portfolio};
  }
  return std::nullopt;
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

std::size_t ProductSearcher::entry_of(const Configuration& configuration) const {
  const std::uint64_t key = digest_of(configuration);
  const auto found = std::find(entry_keys_.begin(), entry_keys_.end(), key);
  if (found == entry_keys_.end()) return kNoEntry;
  const std::size_t entry = static_cast<std::size_t>(found - entry_keys_.begin());
  const std::optional<Configuration> mapped = mapping_.map(kernel_.portfolio_values(entry));
  return mapped && *mapped == configuration ? entry : kNoEntry;
}

void ProductSearcher::exclude(const Configuration& configuration) {
  taken_.add(configuration);
  if (const std::size_t entry = entry_of(configuration); entry != kNoEntry) beliefs_.take(entry);
}

ProposalOrigin ProductSearcher::recall(const Configuration& configuration) {
  exclude(configuration);
  if (first_pick_ && configuration == first_pick_->configuration) return ProposalOrigin::first_pick;
  if (entry_of(configuration) != kNoEntry) return ProposalOrigin::portfolio;
  if (random_times_.size() + random_keys_.size() < kTrustSamples) {
    random_keys_.push_back(digest_of(configuration));
  }
  return ProposalOrigin::random;
}

void ProductSearcher::tell(const Configuration& configuration, const Observation& observation) {
  taken_.add(configuration);
  const bool failed =
      observation.status != TrialStatus::correct || observation.run_time.count() <= 0;
  const double time = failed ? kFailedTime : static_cast<double>(observation.run_time.count());
  const std::size_t entry = entry_of(configuration);
  const auto key = std::find(random_keys_.begin(), random_keys_.end(), digest_of(configuration));
  const bool drawn = key != random_keys_.end();
  if (drawn) {
    random_keys_.erase(key);
    if (random_times_.size() < kTrustSamples) random_times_.push_back(time);
  }
  if (entry == kNoEntry) {
    if (drawn && !failed) beliefs_.tell_draw(time);
    return;
  }
  if (!drawn && guided_times_.size() < kTrustSamples) guided_times_.push_back(time);
  if (failed) {
    beliefs_.tell_entry_failed(entry);
  } else {
    beliefs_.tell_entry(entry, time);
  }
}

}  // namespace idletune
