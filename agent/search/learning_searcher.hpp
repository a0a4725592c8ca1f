// Search without a history: uniform draws until a few configurations were measured, whoever chose
// them, then what a learner proposes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "agent/search/random_searcher.hpp"
#include "agent/search/search_learner.hpp"
#include "agent/search/searchers.hpp"

namespace idletune {

// See agent/search/README.md for the method. Every `random_every`-th proposal stays a uniform draw.
// Memory: that of the learner, and 16 bytes per proposal.
class LearningSearcher final : public Searcher {
 public:
  // Measurements before the learner is asked, those of a structured start included.
  static constexpr std::size_t kInitial = 6;

  // Without `options.learner` all are uniform draws.
  LearningSearcher(const Space& space, const SearcherOptions& options);
  std::optional<Proposal> ask() override;
  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override;
  // Uniform draws are told from the learner's proposals as long as measurements are recalled in
  // order; in a space without numbers all but the first count as the learner's.
  ProposalOrigin recall(const Configuration& configuration, std::optional<bool> drawn) override;

 private:
  std::optional<Proposal> draw();
  bool is_random_turn() const;

  ProposedSet taken_;
  RandomDraws draws_;
  std::unique_ptr<LearnedProposals> proposals_;  // null: there is no learner
  std::size_t measured_ = 0;
  std::uint32_t random_every_;
  bool numbered_;  // the space's configurations are
  std::uint64_t asks_ = 0;
};

}  // namespace idletune
