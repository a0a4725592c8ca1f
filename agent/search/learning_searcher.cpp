#include "agent/search/learning_searcher.hpp"

namespace idletune {

LearningSearcher::LearningSearcher(const Space& space, const SearcherOptions& options)
    : taken_(space),
      draws_(space, taken_, options),
      proposals_(options.learner != nullptr ? options.learner->make(space, options.seed, {})
                                            : nullptr),
      random_every_(options.random_every),
      numbered_(space.indexed()) {}

bool LearningSearcher::is_random_turn() const {
  return proposals_ == nullptr || measured_ < kInitial ||
         (random_every_ > 0 && asks_ % random_every_ == 0);
}

std::optional<Proposal> LearningSearcher::draw() {
  const std::optional<Configuration> drawn = draws_.next();
  if (!drawn) return std::nullopt;
  exclude(*drawn);
  return Proposal{*drawn, ProposalOrigin::random};
}

std::optional<Proposal> LearningSearcher::ask() {
  ++asks_;
  if (is_random_turn()) return draw();
  const std::optional<Configuration> proposed = proposals_->propose();
  if (!proposed) return draw();
  taken_.add(*proposed);
  return Proposal{*proposed, ProposalOrigin::learned};
}

void LearningSearcher::tell(const Configuration& configuration, const Observation& observation) {
  taken_.add(configuration);
  if (observation.impossible() && is_random_turn()) {
    --asks_;
  } else {
    ++measured_;
  }
  if (proposals_ != nullptr) proposals_->tell(configuration, observation);
}

void LearningSearcher::exclude(const Configuration& configuration) {
  taken_.add(configuration);
  if (proposals_ != nullptr) proposals_->exclude(configuration);
}

ProposalOrigin LearningSearcher::recall(const Configuration& configuration,
                                        std::optional<bool> drawn) {
  ++asks_;
  const bool next = numbered_ ? draws_.recall(configuration) : measured_ < kInitial;
  exclude(configuration);
  return proposals_ == nullptr || drawn.value_or(next) ? ProposalOrigin::random
                                                       : ProposalOrigin::learned;
}

}  // namespace idletune
