#include "agent/belief/search_forecast.hpp"

#include <algorithm>
#include <cmath>

namespace idletune {
namespace {

// Improvements (log of the speed-up) at which chances are followed; the first is the margin.
constexpr std::array<double, SearchForecast::kThresholds> kLogSpeedUps{
    0.031, 0.05, 0.075, 0.105, 0.14, 0.18, 0.23, 0.3, 0.39, 0.5, 0.65, 0.85, 1.1, 1.5, 2.1, 3.0};
// t_best lies this many standard deviations of the noise below a source's prediction of it: of many
// entries with q near 1 the best one wins by more than the mean.
constexpr double kBestOfMany = 1.0;
// This device's distribution of q is not exactly the historical one: floor of the scale's spread.
constexpr double kScaleFloor = 0.15;
constexpr double kFloor = kScaleFloor * kScaleFloor;
// How firmly the share of the space that beats a threshold is believed, in pseudo hits.
constexpr double kModelHits = 2.0;
// Shares of a history that is a sample are taken at the lower end of their 80 % interval.
constexpr double kCautious = 1.2816;
// Entries are looked at one by one up to here, then one stands for this many.
constexpr std::size_t kOneByOne = 8;
constexpr std::size_t kGroup = 4;

struct Node {
  double deviations;
  double weight;
};
constexpr std::array<Node, 3> kNodes{
    {{-1.7320508075688772, 1.0 / 6}, {0.0, 2.0 / 3}, {1.7320508075688772, 1.0 / 6}}};

// exp(x) for x <= 0 within 10^-4, by squaring: a dozen multiplications that compilers vectorise.
double decay(double x) {
  const double part = std::max(x, -30.0) / 256;
  double power = 1 + part * (1 + part / 2);
  for (int i = 0; i < 8; ++i) power *= power;
  return power;
}

// Shares of the distribution at or above each of the descending `limits`.
template <class T>
void shares_at_least(Span<const T> values, Span<const T> levels, Span<const double> limits,
                     Span<double> shares) {
  std::size_t i = values.size() - 1;
  for (std::size_t j = 0; j < limits.size(); ++j) {
    // The last piece whose lower end is below the limit.
    while (i > 0 && static_cast<double>(values[i - 1]) >= limits[j]) --i;
    const double high = static_cast<double>(values[i]);
    double share = 0;
    if (i == 0) {
      share = 1;
    } else if (high >= limits[j]) {
      const double low = static_cast<double>(values[i - 1]);
      const double part = (limits[j] - low) / (high - low);
      const double from = static_cast<double>(levels[i - 1]);
      share = 1 - (from + part * (static_cast<double>(levels[i]) - from));
    }
    shares[j] = share;
  }
}

// The share of configurations that beat a threshold, `expected` by history, after `hits` of `draws`
// uniform draws did: a Gamma prior on a rate, worth kModelHits hits.
double updated_share(double expected, double hits, double draws) {
  if (!(expected > 0)) return 0;
  return std::min(0.999, (kModelHits + hits) / (kModelHits / expected + draws));
}

// How likely that outcome was, under the same prior (up to a factor that does not depend on
// `expected`).
double likelihood_of_hits(double expected, double hits, double draws) {
  const double odds = std::max(expected, 1e-6) * draws / kModelHits;
  const double kept = 1 / (1 + odds);
  return kept * kept * (hits > 0 ? std::pow(odds * kept, hits) : 1.0);
}
static_assert(kModelHits == 2.0, "the power above");

}  // namespace

SearchForecast::SearchForecast(const ForecastInput& input)
    : input_(input),
      log_current_(std::log(input.current_ns)),
      trust_(input.outlook.beliefs->forecast_quality()) {
  const double share = input_.outlook.random_share;
  input_.outlook.random_share = share >= 0 && share <= 1 ? share : 1;
  const Span<const DevicePosterior::Forecast> given = input_.outlook.upcoming;
  upcoming_count_ = std::min(given.size(), upcoming_.size());
  std::copy_n(given.begin(), upcoming_count_, upcoming_.begin());
  if (upcoming_count_ == 0) upcoming_count_ = input_.outlook.beliefs->upcoming(upcoming_);
  count_hits();
  choose_members();
  for (std::size_t m = 0; m < member_count_; ++m) {
    Member& member = members_[m];
    place(member);
    set_draw_chances(member);
    member.missed.fill(1);
    member.all_missed.fill(1);
  }
}

void SearchForecast::count_hits() {
  for (std::size_t j = 0; j < kThresholds; ++j) {
    speed_up_[j] = std::exp(kLogSpeedUps[j]);
    gain_[j] = input_.current_ns * (1 - 1 / speed_up_[j]);
    if (input_.draws) hits_[j] = input_.draws->count_below(input_.current_ns / speed_up_[j]);
  }
}

// The heaviest sources and "none of these", with their weights scaled to add up to 1.
void SearchForecast::choose_members() {
  const DevicePosterior& beliefs = *input_.outlook.beliefs;
  for (std::size_t d = 0; d < beliefs.source_count(); ++d) {
    Member member;
    member.weight = beliefs.weight(d);
    member.source = d;
    std::size_t place = member_count_;
    while (place > 0 && members_[place - 1].weight < member.weight) --place;
    if (place == kMembers - 1) continue;
    const std::size_t last = std::min(member_count_, kMembers - 2);
    for (std::size_t i = last; i > place; --i) members_[i] = members_[i - 1];
    members_[place] = member;
    member_count_ = last + 1;
  }
  Member& none = members_[member_count_++];
  none = Member();
  none.none = true;
  none.source = beliefs.source_count();
  none.weight = beliefs.weight_of_none();
  double total = 0;
  for (std::size_t m = 0; m < member_count_; ++m) total += members_[m].weight;
  for (std::size_t m = 0; m < member_count_; ++m) members_[m].weight /= total;
}

// Before any entry ran here nothing but what runs now tells the scale.
void SearchForecast::place(Member& member) const {
  const DevicePosterior& beliefs = *input_.outlook.beliefs;
  member.belief = beliefs.component(member.source);
  if (member.none) member.belief.noise_variance = 0;
  if (!member.none && beliefs.measured() > 0) return;
  const ScaleGuess& guess = member.none ? input_.unknown_scale : input_.scale;
  member.belief.log_scale = guess.mean_log + kBestOfMany * std::sqrt(member.belief.noise_variance);
  member.belief.scale_variance = guess.spread * guess.spread;
}

void SearchForecast::set_draw_chances(Member& member) const {
  const DevicePosterior& beliefs = *input_.outlook.beliefs;
  // t_best by what the source predicts, and by rank among the uniform draws: weighted by precision.
  const double noise = std::sqrt(member.belief.noise_variance);
  const double predicted = member.belief.scale_variance + noise * noise / 4 + kFloor;
  const ScaleGuess& guess = member.none ? input_.unknown_scale : input_.scale;
  const double ranked = guess.spread * guess.spread + kFloor;
  const double trust = member.none ? 0 : ranked / (predicted + ranked);
  const double log_best =
      guess.mean_log + trust * (member.belief.log_scale - kBestOfMany * noise - guess.mean_log);
  const double spread = std::sqrt(ranked * (1 - trust));
  const double sample = member.none ? 0 : beliefs.sample_size(member.source);
  // Under "none of these" entries are as good as uniform draws.
  const double draws = (input_.draws ? input_.draws->count() : 0) +
                       (member.none ? static_cast<double>(beliefs.measured()) : 0.0);
  Row chances{};
  double total = 0;
  for (const Node& node : kNodes) {
    const double best = std::exp(log_best + node.deviations * spread - log_current_);
    Row limits;
    for (std::size_t j = 0; j < kThresholds; ++j) limits[j] = best * speed_up_[j];
    Row shares{};
    if (member.none) {
      shares_at_least<double>(input_.unknown->values(), input_.unknown->levels(), limits, shares);
    } else {
      shares_at_least<float>(beliefs.distribution(member.source).values(), input_.levels, limits,
                             shares);
    }
    if (sample > 0) {
      for (double& share : shares) share = wilson_lower(share * sample, sample, kCautious);
    }
    const double weight = node.weight * likelihood_of_hits(shares[0], hits_[0], draws);
    total += weight;
    for (std::size_t j = 0; j < kThresholds; ++j) {
      chances[j] += weight * updated_share(shares[j], hits_[j], draws);
    }
  }
  for (std::size_t j = 0; j < kThresholds; ++j) member.draw[j] = std::log1p(-chances[j] / total);
}

void SearchForecast::look_at_entry(Member& member, double relative) const {
  if (member.none || relative < 0) {
    for (std::size_t j = 0; j < kThresholds; ++j) member.entry[j] = -std::expm1(member.draw[j]);
    return;
  }
  if (!(relative > 0)) {
    member.entry.fill(0);
    return;
  }
  const DevicePosterior::Prediction prediction(member.belief, relative);
  for (std::size_t j = 0; j < kThresholds; ++j) {
    member.entry[j] = trust_ * prediction.chance_below(log_current_ - kLogSpeedUps[j]);
  }
}

void SearchForecast::pass_entry(std::size_t index) {
  const bool pick = input_.first_pick_relative > 0 && index == 0;
  const std::size_t place = index - (input_.first_pick_relative > 0 ? 1 : 0);
  const bool look = pick || place < kOneByOne || place % kGroup == 0;
  const std::size_t shown =
      pick ? 0 : std::min(upcoming_count_ - 1, place < kOneByOne ? place : place + kGroup / 2);
  for (std::size_t m = 0; m < member_count_; ++m) {
    Member& member = members_[m];
    if (look) {
      look_at_entry(member,
                    pick ? input_.first_pick_relative
                         : input_.outlook.beliefs->relative(upcoming_[shown].entry, member.source));
    }
    for (std::size_t j = 0; j < kThresholds; ++j) member.missed[j] *= 1 - member.entry[j];
  }
}

void SearchForecast::advance_to(double proposals) {
  const std::size_t picks = input_.first_pick_relative > 0 ? 1 : 0;
  const double guided =
      std::ceil((proposals - static_cast<double>(picks)) * (1 - input_.outlook.random_share));
  const double all = static_cast<double>(picks) + std::max(0.0, guided);
  const std::size_t entries = upcoming_count_ + picks;
  while (passed_ < entries && static_cast<double>(passed_) < all) pass_entry(passed_++);
  const double draws = std::max(0.0, proposals - static_cast<double>(passed_));
  for (std::size_t m = 0; m < member_count_; ++m) {
    Member& member = members_[m];
    for (std::size_t j = 0; j < kThresholds; ++j) {
      member.all_missed[j] = member.missed[j] * decay(draws * member.draw[j]);
    }
  }
}

double SearchForecast::missed(std::size_t threshold) const {
  double sum = 0;
  for (std::size_t m = 0; m < member_count_; ++m) {
    sum += members_[m].weight * members_[m].all_missed[threshold];
  }
  return sum;
}

// The integral of the chance to gain more, trapezoid by trapezoid.
double SearchForecast::expected_gain() const {
  double previous_gain = 0;
  double previous_chance = 1 - missed(0);
  double sum = 0;
  for (std::size_t j = 0; j < kThresholds; ++j) {
    const double chance = 1 - missed(j);
    sum += (gain_[j] - previous_gain) * (chance + previous_chance) / 2;
    previous_gain = gain_[j];
    previous_chance = chance;
  }
  return sum;
}

double SearchForecast::gain_quantile(double level) const {
  double result = 0;
  for (std::size_t j = 0; j < kThresholds && missed(j) < level; ++j) result = gain_[j];
  return result;
}

}  // namespace idletune
