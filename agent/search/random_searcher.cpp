#include "agent/search/random_searcher.hpp"

#include <algorithm>

namespace idletune {

namespace {

// Consecutive repeats after which drawing gives way to walking: the space is nearly exhausted.
constexpr int kMaxRedraws = 64;
// Draws may be told somewhat out of order, and some never are.
constexpr std::uint32_t kDrawsAhead = 16;

}  // namespace

RandomDraws::RandomDraws(const Space& space, ProposedSet& taken, const SearcherOptions& options)
    : space_(space),
      taken_(taken),
      order_(std::max<std::uint64_t>(space.valid_count(), 1), options.seed),
      random_(options.seed + options.random_start),
      start_(options.random_start % order_.size()) {}

std::uint64_t RandomDraws::number_at(std::uint64_t position) const {
  const std::uint64_t until_the_end = order_.size() - start_;
  return order_(position < until_the_end ? start_ + position : position - until_the_end);
}

std::optional<Configuration> RandomDraws::next() {
  if (!space_.indexed()) return next_unnumbered();
  while (position_ < space_.valid_count()) {
    const std::uint64_t number = number_at(position_++);
    if (!taken_.has_number(number)) return space_.at(number);
  }
  return std::nullopt;
}

bool RandomDraws::recall(const Configuration& configuration) {
  if (!space_.indexed()) return true;
  const std::optional<std::uint64_t> wanted = space_.index_of(configuration);
  if (!wanted) return false;
  std::uint32_t ahead = 0;
  for (std::uint64_t at = position_; at < space_.valid_count() && ahead < kDrawsAhead; ++at) {
    const std::uint64_t number = number_at(at);
    if (number == *wanted) {
      furthest_ = std::max(furthest_, at + 1);
      return true;
    }
    if (at >= furthest_ && !taken_.has_number(number)) ++ahead;
  }
  return false;
}

std::optional<Configuration> RandomDraws::next_unnumbered() {
  if (taken_.size() >= kMaxRemembered) return std::nullopt;
  for (int repeats = 0; repeats < kMaxRedraws; ++repeats) {
    const Configuration drawn = space_.sample(random_);
    if (!space_.contains(drawn)) break;  // an empty space
    if (taken_.add(drawn)) return drawn;
  }
  Space::Cursor cursor = space_.cursor();
  Configuration walked;
  while (cursor.next(walked)) {
    if (taken_.add(walked)) return walked;
  }
  return std::nullopt;
}

RandomSearcher::RandomSearcher(const Space& space, const SearcherOptions& options)
    : taken_(space), draws_(space, taken_, options) {}

std::optional<Proposal> RandomSearcher::ask() {
  const std::optional<Configuration> drawn = draws_.next();
  if (!drawn) return std::nullopt;
  return Proposal{*drawn, ProposalOrigin::random};
}

}  // namespace idletune
