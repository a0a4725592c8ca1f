#include "agent/search/structured_start.hpp"

#include <utility>

namespace idletune {

namespace {

constexpr int kDrawsForOne = 64;  // for one proposal; each costs a plan of its launches

}  // namespace

StructuredStart::StructuredStart(const Space& space, std::unique_ptr<Searcher> next,
                                 const SearcherOptions& options)
    : space_(space),
      next_(std::move(next)),
      groups_(*options.work_groups),
      taken_(space),
      random_(options.seed) {}

// Nothing where 64 draws find none: groups of that size are rare, or the space has no numbers.
std::optional<Configuration> StructuredStart::draw() {
  if (!space_.indexed() || space_.valid_count() == 0) return std::nullopt;
  for (int i = 0; i < kDrawsForOne; ++i) {
    Configuration drawn = space_.at(random_.below(space_.valid_count()));
    const std::uint64_t items = groups_.items(drawn);
    if (items >= kNarrowest && items <= kWidest && taken_.add(drawn)) return drawn;
  }
  return std::nullopt;
}

std::optional<Proposal> StructuredStart::ask() {
  if (left_ > 0) {
    --left_;
    if (const std::optional<Configuration> drawn = draw()) {
      next_->exclude(*drawn);
      return Proposal{*drawn, ProposalOrigin::learned};
    }
    left_ = 0;
  }
  return next_->ask();
}

void StructuredStart::tell(const Configuration& configuration, const Observation& observation) {
  taken_.add(configuration);
  next_->tell(configuration, observation);
}

void StructuredStart::exclude(const Configuration& configuration) {
  taken_.add(configuration);
  next_->exclude(configuration);
}

ProposalOrigin StructuredStart::recall(const Configuration& configuration,
                                       std::optional<bool> drawn) {
  taken_.add(configuration);
  if (left_ > 0) --left_;
  return next_->recall(configuration, drawn);
}

SearchOutlook StructuredStart::outlook() const {
  SearchOutlook outlook = next_->outlook();
  if (left_ > 0) outlook.random_share = 1;
  return outlook;
}

}  // namespace idletune
