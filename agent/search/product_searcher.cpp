#include "agent/search/product_searcher.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/core/digest.hpp"
#include "models/core/lists.hpp"

namespace idletune {

namespace {

// The portfolio is trusted while it beats at least this share of uniform draws, pair by pair.
constexpr double kTrustShare = 0.7;
constexpr std::size_t kTrustAfter = 3;       // uniform draws before the comparison is made
constexpr std::size_t kTrustSamples = 64;    // of each kind are kept for it
constexpr std::uint64_t kDistrustEvery = 6;  // then every 6th proposal but draws still is an entry
constexpr double kFailedTime = 1e300;
// While the best entry promises less than this (expected improvement of ln t), only every third
// proposal but draws is an entry.
constexpr double kLeastPromise = 0.002;
constexpr std::uint64_t kUnpromisingEvery = 3;
// Measurements before the learner is asked, those that it begins with at the latest, and attempts
// to have something proposed that was not excluded.
constexpr std::ptrdiff_t kBeforeLearning = 6;
constexpr std::size_t kLearningAtLatest = 64;
constexpr int kAttempts = 4;
// Entries are favourites by their expected q to this power.
constexpr double kFavouriteSharpness = 4;

std::vector<double> prior_weights(const DevicePosterior& beliefs) {
  std::vector<double> weights(beliefs.source_count());
  for (std::size_t d = 0; d < weights.size(); ++d) weights[d] = beliefs.prior_weight(d);
  return weights;
}

}  // namespace

ProductSearcher::ProductSearcher(const Space& space, const KernelKnowledge& kernel,
                                 const SearcherOptions& options)
    : space_(space),
      kernel_(kernel),
      mapping_(kernel, space, options.fallback),
      taken_(space),
      draws_(space, taken_, options),
      seed_(options.seed),
      random_every_(options.random_every),
      first_pick_(first_pick_of(space, kernel, options)),
      beliefs_(kernel, options.device),
      regression_(kernel, prior_weights(beliefs_), beliefs_.entry_count()),
      learner_(options.learner) {
  for (std::size_t i = 0; i < beliefs_.entry_count(); ++i) {
    const std::optional<Configuration> mapped = mapping_.map(kernel_.portfolio_values(i));
    if (!mapped) beliefs_.take(i);
    entry_keys_.push_back(mapped ? digest_of(*mapped) : 0);
  }
}

// Once per measurement, and whenever an entry was taken.
void ProductSearcher::value_entries() const {
  if (upcoming_current_) return;
  upcoming_current_ = true;
  upcoming_count_ = 0;
  const std::size_t pick = first_pick_ ? entry_of(first_pick_->configuration) : kNoEntry;
  for (std::size_t i = 0; i < beliefs_.entry_count(); ++i) {
    if (!beliefs_.is_open(i)) continue;
    // The first pick is asked for first.
    const double value = i == pick ? HUGE_VAL : regression_.value(i);
    const DevicePosterior::Forecast forecast{i, value};
    std::size_t place = upcoming_count_;
    while (place > 0 && upcoming_[place - 1].value < forecast.value) --place;
    if (place == upcoming_.size()) continue;
    upcoming_count_ = std::min(upcoming_count_ + 1, upcoming_.size());
    for (std::size_t k = upcoming_count_ - 1; k > place; --k) upcoming_[k] = upcoming_[k - 1];
    upcoming_[place] = forecast;
  }
}

Span<const DevicePosterior::Forecast> ProductSearcher::upcoming_entries() const {
  value_entries();
  return {upcoming_.data(), upcoming_count_};
}

// The first entry to be measured promises something by itself.
bool ProductSearcher::entries_promise() const {
  const Span<const DevicePosterior::Forecast> entries = upcoming_entries();
  if (entries.empty()) return false;
  return !regression_.has_measurement() || entries[0].value >= kLeastPromise;
}

// What is learned counts as draws: it is no worse, and what it will be nobody knows.
SearchOutlook ProductSearcher::outlook() const {
  SearchOutlook outlook;
  outlook.beliefs = &beliefs_;
  outlook.upcoming = upcoming_entries();
  const double draws = random_every_ > 0 ? 1.0 / random_every_ : 0;
  const double entries = !trusts_portfolio()  ? 1.0 / kDistrustEvery
                         : !entries_promise() ? 1.0 / kUnpromisingEvery
                                              : 1.0;
  outlook.random_share = 1 - (1 - draws) * entries;
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
  return random_every_ > 0 && asks_ % random_every_ == 0;
}

void ProductSearcher::count_ask() {
  ++asks_;
  if (!is_random_turn()) ++guided_;
}

// Entries come first while they are trusted and promise something, then now and then.
bool ProductSearcher::is_entry_turn() const {
  if (first_pick_) return true;
  if (!trusts_portfolio()) return guided_ % kDistrustEvery == 0;
  return entries_promise() || guided_ % kUnpromisingEvery == 0;
}

// What it leaves of the list stays, so that the others need not be valued again.
void ProductSearcher::take(std::size_t entry) {
  beliefs_.take(entry);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < upcoming_count_; ++i) {
    if (upcoming_[i].entry != entry) upcoming_[kept++] = upcoming_[i];
  }
  upcoming_count_ = kept;
  if (kept == 0) upcoming_current_ = false;
}

std::optional<Proposal> ProductSearcher::next_entry() {
  if (first_pick_) {
    const Configuration pick = first_pick_->configuration;
    first_pick_.reset();
    upcoming_current_ = false;
    if (taken_.add(pick)) return Proposal{pick, ProposalOrigin::first_pick};
  }
  for (;;) {
    const Span<const DevicePosterior::Forecast> entries = upcoming_entries();
    if (entries.empty()) return std::nullopt;
    const std::size_t entry = entries[0].entry;
    take(entry);
    const std::optional<Configuration> mapped = mapping_.map(kernel_.portfolio_values(entry));
    if (mapped && taken_.add(*mapped)) return Proposal{*mapped, ProposalOrigin::portfolio};
  }
}

std::optional<Proposal> ProductSearcher::next_random() {
  const std::optional<Configuration> drawn = draws_.next();
  if (!drawn) return std::nullopt;
  taken_.add(*drawn);
  if (random_times_.size() < kTrustSamples) random_keys_.push_back(digest_of(*drawn));
  return Proposal{*drawn, ProposalOrigin::random};
}

// Every entry that is in the space is a favourite, measured here or not.
void ProductSearcher::begin_learning() {
  std::vector<Favourite> favourites;
  const std::size_t trusted = trusts_portfolio() ? beliefs_.entry_count() : 0;
  for (std::size_t i = 0; i < trusted; ++i) {
    const std::optional<Configuration> mapped = mapping_.map(kernel_.portfolio_values(i));
    if (!mapped) continue;
    favourites.push_back({*mapped, std::exp(kFavouriteSharpness * regression_.expected(i))});
  }
  learned_ = learner_->make(space_, seed_, {favourites.data(), favourites.size()});
  for (const Measured& each : measured_) learned_->tell(each.configuration, each.observation);
  measured_.clear();
  measured_.shrink_to_fit();
}

std::optional<Proposal> ProductSearcher::next_learned() {
  if (learner_ == nullptr) return std::nullopt;
  const auto launched = [](const Measured& each) { return !each.observation.impossible(); };
  if (!learned_ && std::count_if(measured_.begin(), measured_.end(), launched) < kBeforeLearning) {
    return std::nullopt;
  }
  if (!learned_) begin_learning();
  if (!std::exchange(distrusted_, !trusts_portfolio()) && distrusted_) learned_->forget_history();
  for (int i = 0; i < kAttempts; ++i) {
    const std::optional<Configuration> proposed = learned_->propose();
    if (!proposed) break;
    if (taken_.add(*proposed)) return Proposal{*proposed, ProposalOrigin::learned};
  }
  return std::nullopt;
}

std::optional<Proposal> ProductSearcher::ask() {
  count_ask();
  std::optional<Proposal> proposal;
  if (is_random_turn() && !(first_pick_ && !taken_.has(first_pick_->configuration))) {
    proposal = next_random();
  } else {
    if (is_entry_turn()) proposal = next_entry();
    if (!proposal) proposal = next_learned();
  }
  if (!proposal) proposal = next_random();
  if (!proposal) proposal = next_entry();
  return proposal;
}

std::size_t ProductSearcher::entry_of(const Configuration& configuration) const {
  const std::size_t entry = place_of(entry_keys_, digest_of(configuration));
  if (entry == entry_keys_.size()) return kNoEntry;
  const std::optional<Configuration> mapped = mapping_.map(kernel_.portfolio_values(entry));
  return mapped && *mapped == configuration ? entry : kNoEntry;
}

void ProductSearcher::exclude(const Configuration& configuration) {
  taken_.add(configuration);
  if (learned_) learned_->exclude(configuration);
  if (const std::size_t entry = entry_of(configuration); entry != kNoEntry) take(entry);
}

ProposalOrigin ProductSearcher::recall(const Configuration& configuration,
                                       std::optional<bool> drawn) {
  count_ask();
  const bool was_drawn = drawn.value_or(space_.indexed() && draws_.recall(configuration));
  exclude(configuration);
  if (first_pick_ && configuration == first_pick_->configuration) return ProposalOrigin::first_pick;
  if (!drawn.value_or(false) && entry_of(configuration) != kNoEntry) {
    return ProposalOrigin::portfolio;
  }
  if (!was_drawn) return ProposalOrigin::learned;
  if (random_times_.size() + random_keys_.size() < kTrustSamples) {
    random_keys_.push_back(digest_of(configuration));
  }
  return ProposalOrigin::random;
}

void ProductSearcher::learn(const Configuration& configuration, const Observation& observation) {
  if (learner_ == nullptr) return;
  if (!learned_ && measured_.size() == kLearningAtLatest) begin_learning();
  if (learned_) {
    learned_->tell(configuration, observation);
  } else {
    measured_.push_back({configuration, observation});
  }
}

void ProductSearcher::tell(const Configuration& configuration, const Observation& observation) {
  taken_.add(configuration);
  // A draw that cannot be launched cost nothing: it is still a draw's turn.
  if (observation.impossible() && is_random_turn()) --asks_;
  learn(configuration, observation);
  const bool failed = observation.failed();
  const double time = failed ? kFailedTime : static_cast<double>(observation.run_time.count());
  const std::size_t entry = entry_of(configuration);
  const std::size_t draw = place_of(random_keys_, digest_of(configuration));
  const bool drawn = draw < random_keys_.size();
  if (drawn) random_keys_.erase(random_keys_.begin() + static_cast<std::ptrdiff_t>(draw));
  // What cannot be launched here was not measured: it neither wins nor loses.
  std::vector<double>& times = drawn ? random_times_ : guided_times_;
  const bool compared = (drawn || entry != kNoEntry) && !observation.impossible();
  if (compared && times.size() < kTrustSamples) push(times, time);
  if (entry == kNoEntry) {
    if (drawn && !failed) beliefs_.tell_draw(time);
    return;
  }
  upcoming_current_ = false;
  if (failed) {
    beliefs_.tell_entry_failed(entry);
    regression_.tell_failed(entry);
  } else {
    beliefs_.tell_entry(entry, time);
    regression_.tell(entry, time);
  }
}

}  // namespace idletune
