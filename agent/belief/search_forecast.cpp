#include "agent/belief/search_forecast.hpp"

#include <algorithm>
#include <cmath>

namespace idletune {
namespace {

// How far the end lies below the fastest of n tries that a model proposed: scale * n^power.
struct End {
  double scale;
  double power;
};
constexpr std::array<End, 3> kEnds{{{0.0247, -0.53}, {0.124, -0.56}, {0.61, -0.30}}};
// The weights of entries to come count this much against those of tries made.
constexpr double kAhead = 0.7;
// Draws whose spread is known well enough to set the end beside a model.
constexpr double kSpreadKnown = 5;
constexpr double kUsualDrawSpread = 0.32;
// Without a model wins near the end count still less.
constexpr double kPowerAlone = 1.2;
// What is left is at most this much further away than where the sources are off as usual.
constexpr double kMostNoise = 1.5;

}  // namespace

SearchForecast::SearchForecast(const ForecastInput& input) : input_(input) {
  const double share = input.outlook.random_share;
  input_.outlook.random_share = share >= 0 && share <= 1 ? share : 1;
  DrawLaws laws = input.draws ? DrawLaws(*input.draws) : DrawLaws();
  const double drawn = input.draws ? input.draws->count() : 0;
  count_ = std::max(drawn, input.tried);
  const DevicePosterior* beliefs = input.outlook.beliefs;
  if (beliefs == nullptr || beliefs->source_count() == 0) {
    if (!input.draws || input.draws->correct() < DrawLaws::kFewest) count_ += DrawLaws::kFewest;
  } else {
    none_ = beliefs->weight_of_none();
    const Span<const DevicePosterior::Forecast> upcoming = input.outlook.upcoming;
    const std::size_t skipped = input.first_tried && !upcoming.empty() ? 1 : 0;
    entries_ = std::min(upcoming.size() - skipped, kUpcoming);
    for (std::size_t i = 0; i < entries_; ++i) {
      weights_[i + 1] = weights_[i] + beliefs->race_weight(upcoming[i + skipped].entry);
    }
    const double entries_tried = beliefs->measured() + beliefs->failed();
    const double others = std::max(drawn, input.tried - entries_tried);
    weight_ = beliefs->tried_weight() + others * beliefs->draw_weight();
    if (skipped > 0) weight_ += beliefs->race_weight(upcoming[0].entry);
    count_ = std::max(1.0, entries_tried + others + static_cast<double>(skipped));
    if (!input.draws || input.draws->correct() < kSpreadKnown) laws.spread = kUsualDrawSpread;
  }
  laws.draws = std::max(count_, 1.0);
  const Tenths ends = laws.distance();
  // Where the sources' predictions came true, little is left beyond what they like.
  const double noise = none_ < 1 ? std::min(kMostNoise, beliefs->relative_noise()) : 1;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    alike_[i] = points_to(ends[i], kTenthWeights[i] * none_, none_ < 1 ? 1 : kPowerAlone);
    if (none_ < 1) {
      const double end = noise * kEnds[i].scale * std::pow(count_, kEnds[i].power);
      weighed_[i] = points_to(end, kTenthWeights[i] * (1 - none_), 1);
    }
  }
}

// The integral of e^-delta P(delta) from the margin on, and what reaching the margin gains.
SearchForecast::Points SearchForecast::points_to(double end, double weight, double power) const {
  Points points;
  const double least = -std::log1p(-input_.margin);
  const double last = end + input_.behind;
  if (!(last > least)) return points;
  const double step = (last - least) / (kPoints - 1);
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double delta = i == 0 ? least : least + (static_cast<double>(i) - 0.5) * step;
    const double left = 1 - std::max(0.0, delta - input_.behind) / end;
    points.chance[i] = power == 1 ? left : std::pow(left, power);
    points.width[i] = weight * (i == 0 ? input_.margin : std::exp(-delta) * step);
  }
  return points;
}

double SearchForecast::weight_of_next(double proposals) const {
  const double guided =
      std::min(proposals * (1 - input_.outlook.random_share), static_cast<double>(entries_));
  const auto whole = static_cast<std::size_t>(guided);
  double weight = weights_[whole];
  if (whole < entries_) {
    weight += (guided - static_cast<double>(whole)) * (weights_[whole + 1] - weights_[whole]);
  }
  return weight + (proposals - guided) * input_.outlook.beliefs->draw_weight();
}

double SearchForecast::gain(double proposals) const {
  double sum = 0;
  const auto add = [&sum](const std::array<Points, 3>& ends, double ahead, double made) {
    for (const Points& points : ends) {
      for (std::size_t i = 0; i < kPoints; ++i) {
        const double won = ahead * points.chance[i];
        if (won > 0) sum += points.width[i] * won / (won + made);
      }
    }
  };
  add(alike_, proposals, count_);
  if (none_ < 1) add(weighed_, kAhead * weight_of_next(proposals), weight_);
  return sum;
}

}  // namespace idletune
