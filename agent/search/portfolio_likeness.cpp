#include "agent/search/portfolio_likeness.hpp"

#include <cmath>

#include "models/core/lists.hpp"
#include "models/core/random.hpp"

namespace idletune {
namespace {

// Configurations drawn to learn how frequent the values are.
constexpr int kDraws = 1024;
// Weight of entries that the space's own frequencies are worth.
constexpr float kShrinkage = 3.0f;
// Times go with the likeness to this power.
constexpr float kExponent = 0.1f;

}  // namespace

PortfolioLikeness::PortfolioLikeness(const Space& space, std::uint64_t seed)
    : space_(space), coding_(space), codes_(coding_.columns()) {
  std::uint32_t count = 0;
  for (const std::uint32_t levels : coding_.levels()) {
    push(first_, count);
    count += levels;
  }
  share_.resize(count);
  effect_.resize(count);
  count_space(seed);
}

// Values count once beforehand; all alike where the space cannot be drawn from at little cost.
void PortfolioLikeness::count_space(std::uint64_t seed) {
  Random random(seed);
  for (float& share : share_) share = 1;
  const int draws = space_.indexed() && space_.valid_count() > 0 ? kDraws : 0;
  for (int i = 0; i < draws; ++i) {
    if (!coding_.code(space_.at(random.below(space_.valid_count())), codes_)) continue;
    for (std::size_t c = 0; c < codes_.size(); ++c) share_[first_[c] + codes_[c]] += 1;
  }
  for (std::size_t c = 0; c < codes_.size(); ++c) {
    const std::uint32_t levels = coding_.levels()[c];
    for (std::uint32_t i = 0; i < levels; ++i) {
      share_[first_[c] + i] /= static_cast<float>(draws) + static_cast<float>(levels);
    }
  }
}

void PortfolioLikeness::add(const Configuration& entry, double weight) {
  if (!coding_.code(entry, codes_)) return;
  for (std::size_t c = 0; c < codes_.size(); ++c) {
    effect_[first_[c] + codes_[c]] += static_cast<float>(weight);
  }
  weight_ += weight;
}

void PortfolioLikeness::complete() {
  const float all = static_cast<float>(weight_) + kShrinkage;
  for (std::size_t i = 0; i < effect_.size(); ++i) {
    const float share = (effect_[i] + kShrinkage * share_[i]) / all;
    effect_[i] = -kExponent * std::log(share / share_[i]);
  }
}

float PortfolioLikeness::log_time(const Configuration& configuration) const {
  float sum = 0;
  if (!coding_.code(configuration, codes_)) return sum;
  for (std::size_t c = 0; c < codes_.size(); ++c) sum += effect_[first_[c] + codes_[c]];
  return sum;
}

}  // namespace idletune
