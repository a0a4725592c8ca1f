#include <idletune/learning.hpp>

#include "agent/search/forest_proposals.hpp"
#include "agent/search/portfolio_likeness.hpp"
#include "agent/search/search_learner.hpp"

namespace idletune {
namespace {

// A forest on what history gets wrong.
class GuidedForest final : public LearnedProposals {
 public:
  GuidedForest(const Space& space, std::uint64_t seed, Span<const Favourite> favourites)
      : likeness_(space, seed) {
    for (const Favourite& each : favourites) likeness_.add(each.configuration, each.weight);
    likeness_.complete();
    ForestProposalOptions options;
    options.seed = seed;
    options.prior = [this](const Configuration& configuration) -> std::optional<float> {
      return likeness_.log_time(configuration);
    };
    forest_.reset(new ForestProposals(space, std::move(options)));
  }
  void tell(const Configuration& configuration, const Observation& observation) override {
    forest_->tell(configuration, observation);
  }
  void exclude(const Configuration& configuration) override { forest_->exclude(configuration); }
  std::optional<Configuration> propose() override { return forest_->propose(); }
  void forget_history() override { forest_->forget_prior(); }

 private:
  PortfolioLikeness likeness_;
  std::unique_ptr<ForestProposals> forest_;  // refers to likeness_
};

class ForestLearner final : public SearchLearner {
 public:
  std::unique_ptr<LearnedProposals> make(const Space& space, std::uint64_t seed,
                                         Span<const Favourite> favourites) const override {
    if (favourites.empty()) {
      return std::unique_ptr<LearnedProposals>(new ForestProposals(space, {seed, nullptr}));
    }
    return std::unique_ptr<LearnedProposals>(new GuidedForest(space, seed, favourites));
  }
};

constexpr ForestLearner kForestLearner;

}  // namespace

const SearchLearner* forest_learner() { return &kForestLearner; }

}  // namespace idletune
