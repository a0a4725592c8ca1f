#include <idletune/learning.hpp>

#include "agent/retraining/tree_retraining.hpp"
#include "agent/search/search_learner.hpp"

namespace idletune {
namespace {

class ForestAndTrees final : public SearchLearner {
 public:
  std::unique_ptr<LearnedProposals> make(const Space& space, std::uint64_t seed,
                                         Span<const Favourite> favourites) const override {
    return forest_learner()->make(space, seed, favourites);
  }
  detail::Retrainer* retrainer(const journal::State& journal, const detail::KernelTask& kernel,
                               const MonotonicClock& clock) const override {
    return new detail::TreeRetraining(journal, kernel, clock);
  }
};

constexpr ForestAndTrees kForestAndTrees;

}  // namespace

const SearchLearner* forest_and_tree_learner() { return &kForestAndTrees; }

}  // namespace idletune
