// What to measure next, by a random forest that learns from what was measured so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <idletune/configuration.hpp>

#include "agent/search/measured_sample.hpp"
#include "agent/search/neighbours.hpp"
#include "agent/search/proposed_set.hpp"
#include "agent/search/rank_coding.hpp"
#include "agent/search/search_learner.hpp"
#include "agent/search/searcher.hpp"
#include "models/core/random.hpp"
#include "models/forest/forest.hpp"
#include "models/forest/sliced_rows.hpp"

namespace idletune {

struct ForestProposalOptions {
  std::uint64_t seed = 1;
  // ln of the run time that is expected of a configuration, up to a constant which all share;
  // nothing: not known (counts as the mean of those known so far). With a prior the forest learns
  // what it gets wrong (the residuals); without one it learns the ranks of the measurements. Called
  // once per configuration, in the constructor, for spaces that are followed as a whole; once per
  // candidate and measurement for larger ones. Must outlive the proposals.
  std::function<std::optional<float>(const Configuration&)> prior;
};

// Predicts run times over a space, and is kept up to date little by little, at a bounded cost per
// proposal. Method: agent/search/README.md. A space with at most kMaxFollowed numbered
// configurations is predicted as a whole if 512 KiB are enough for that; of another one a sample
// that is renewed, and neighbours of the best. Deterministic under its seed and the order of calls.
// One thread.
class ForestProposals final : public LearnedProposals {
 public:
  static constexpr std::uint64_t kMaxFollowed = 20480;
  static constexpr std::size_t kTrees = 32;

  // `space` must outlive this. Walks the space once if it is followed.
  ForestProposals(const Space& space, ForestProposalOptions options);

  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override;
  // The one with the best lower confidence bound. Nothing: fewer than two measurements ran
  // correctly, or no candidate is left.
  std::optional<Configuration> propose() override;

  // From now on as if there had been no prior.
  void forget_prior();

  // Memory held, without the taken configurations of spaces that are not followed (16 bytes each).
  std::size_t bytes() const;

 private:
  struct Candidate {
    float score = 0;
    std::uint32_t tie = 0;  // decides among equal scores
    std::uint32_t at = 0;   // number of the row (followed), or of the candidate's codes
  };
  // Candidates of a space that is not followed: rows of codes, and their identities.
  struct Pool {
    std::vector<std::uint16_t> codes;
    std::vector<std::uint64_t> ids;
    std::vector<float> priors;
  };
  bool follows() const { return rows_.has_value(); }
  void slice_space();
  std::size_t bytes_besides_rows(std::size_t count) const;
  float prior_of(const Configuration& configuration);
  bool learn();
  void set_rank_targets();
  void set_residual_targets();
  std::size_t renewals() const;
  float bound_of(Span<const float> row, float prior) const;
  std::optional<Configuration> propose_followed();
  std::optional<Configuration> propose_sampled();
  void shorten_list();
  void add_candidate(const Configuration& configuration);
  void refill_pool();

  const Space& space_;
  ForestProposalOptions options_;
  Random random_;
  RankCoding coding_;
  MeasuredSample sample_;
  double prior_sum_ = 0;  // of the known priors, and their number
  std::uint64_t priors_known_ = 0;

  learners::Forest forest_;
  std::vector<float> values_;  // training data, rebuilt at each step
  std::vector<float> targets_;
  std::vector<Candidate> list_;

  // Followed spaces.
  std::optional<learners::SlicedRows> rows_;
  std::unique_ptr<learners::FollowedPredictions> predictions_;
  std::vector<bool> taken_rows_;
  std::vector<float> row_priors_;  // empty without a prior

  // Others.
  ProposedSet taken_;
  Neighbours neighbours_;
  Pool pool_;
};

}  // namespace idletune
