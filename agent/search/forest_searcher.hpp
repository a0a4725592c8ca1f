// Search without a history: a few uniform draws, then what a forest proposes.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/search/forest_proposals.hpp"
#include "agent/search/random_searcher.hpp"
#include "agent/search/searchers.hpp"

namespace idletune {

// See agent/search/README.md for the method. Every `random_every`-th proposal stays a uniform draw.
// Memory: that of ForestProposals, and 16 bytes per proposal.
class ForestSearcher final : public Searcher {
 public:
  // Uniform draws that have to be measured before the forest is asked.
  static constexpr std::size_t kInitial = 6;

  ForestSearcher(const Space& space, const SearcherOptions& options);
  std::optional<Proposal> ask() override;
  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override;

 private:
  std::optional<Proposal> draw();
  bool is_random_turn() const;

  ProposedSet taken_;
  RandomDraws draws_;
  ForestProposals proposals_;
  std::uint32_t random_every_;
  std::uint64_t asks_ = 0;
};

}  // namespace idletune
