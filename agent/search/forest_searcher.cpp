#include "agent/search/forest_searcher.hpp"

namespace idletune {

ForestSearcher::ForestSearcher(const Space& space, const SearcherOptions& options)
    : taken_(space),
      draws_(space, taken_, options.seed, options.random_position),
      proposals_(space, {options.seed, nullptr}),
      random_every_(options.random_every) {}

bool ForestSearcher::is_random_turn() const {
  return proposals_.measured() < kInitial || (random_every_ > 0 && asks_ % random_every_ == 0);
}

std::optional<Proposal> ForestSearcher::draw() {
  const std::optional<Configuration> drawn = draws_.next();
  if (!drawn) return std::nullopt;
  exclude(*drawn);
  return Proposal{*drawn, ProposalOrigin::random};
}

std::optional<Proposal> ForestSearcher::ask() {
  ++asks_;
  if (is_random_turn()) return draw();
  const std::optional<Configuration> proposed = proposals_.propose();
  if (!proposed) return draw();
  taken_.add(*proposed);
  return Proposal{*proposed, ProposalOrigin::learned};
}

void ForestSearcher::tell(const Configuration& configuration, const Observation& observation) {
  taken_.add(configuration);
  proposals_.tell(configuration, observation);
}

void ForestSearcher::exclude(const Configuration& configuration) {
  taken_.add(configuration);
  proposals_.exclude(configuration);
}

}  // namespace idletune
