// Uniform random search without repetition.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/search/proposed_set.hpp"
#include "agent/search/searchers.hpp"
#include "models/core/random.hpp"

namespace idletune {

// Where the space numbers its configurations, draws follow a seeded permutation of the numbers: no
// memory per draw. Without numbers, draws are remembered, at most kMaxRemembered of them: then the
// searcher ends.
class RandomDraws {
 public:
  static constexpr std::size_t kMaxRemembered = 100000;

  // `space` and `taken` must outlive this.
  RandomDraws(const Space& space, ProposedSet& taken, const SearcherOptions& options);
  // A configuration that is not in `taken`, which is not changed where the space has numbers;
  // nothing when all have been drawn.
  std::optional<Configuration> next();
  // Whether an earlier searcher with this seed drew the configuration, if all that it measured is
  // recalled in about its order: whether it is among the next few that would be drawn, or among
  // those that were passed over, which are drawn again. True where the space has no numbers,
  // because nobody can tell then.
  bool recall(const Configuration& configuration);

 private:
  std::optional<Configuration> next_unnumbered();
  std::uint64_t number_at(std::uint64_t position) const;
  const Space& space_;
  ProposedSet& taken_;
  Permutation order_;
  Random random_;
  std::uint64_t start_;
  std::uint64_t position_ = 0;  // counted from the start
  std::uint64_t furthest_ = 0;  // behind the last one recalled
};

class RandomSearcher final : public Searcher {
 public:
  RandomSearcher(const Space& space, const SearcherOptions& options);
  std::optional<Proposal> ask() override;
  void tell(const Configuration&, const Observation&) override {}
  void exclude(const Configuration& configuration) override { taken_.add(configuration); }

 private:
  ProposedSet taken_;
  RandomDraws draws_;
};

}  // namespace idletune
