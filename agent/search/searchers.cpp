#include "agent/search/searchers.hpp"

#include <utility>

#include "agent/search/learning_searcher.hpp"
#include "agent/search/product_searcher.hpp"
#include "agent/search/random_searcher.hpp"
#include "agent/search/structured_start.hpp"

namespace idletune {

std::unique_ptr<Searcher> make_random_searcher(const Space& space, const SearcherOptions& options) {
  return std::unique_ptr<Searcher>(new RandomSearcher(space, options));
}

std::unique_ptr<Searcher> make_learning_searcher(const Space& space,
                                                 const SearcherOptions& options) {
  return std::unique_ptr<Searcher>(new LearningSearcher(space, options));
}

namespace {

std::unique_ptr<Searcher> guided_searcher(const Space& space, const KernelKnowledge* kernel,
                                          const SearcherOptions& options) {
  if (kernel == nullptr) return make_learning_searcher(space, options);
  return std::unique_ptr<Searcher>(new ProductSearcher(space, *kernel, options));
}

}  // namespace

std::optional<FirstPick> first_pick_of(const Space& space, const KernelKnowledge& kernel,
                                       const SearcherOptions& options) {
  std::optional<FirstPick> pick =
      first_pick(kernel, space, options.shape, options.device, options.fallback);
  const bool of_kind = pick && pick->quality < PickQuality::other_kind;
  if (options.work_groups != nullptr && !of_kind) pick.reset();
  return pick;
}

bool begins_by_structure(const Space& space, const KernelKnowledge* kernel,
                         const SearcherOptions& options) {
  if (options.work_groups == nullptr) return false;
  return kernel == nullptr || !first_pick_of(space, *kernel, options);
}

std::unique_ptr<Searcher> make_product_searcher(const Space& space, const KernelKnowledge* kernel,
                                                const SearcherOptions& options) {
  std::unique_ptr<Searcher> guided = guided_searcher(space, kernel, options);
  if (!begins_by_structure(space, kernel, options)) return guided;
  return std::unique_ptr<Searcher>(new StructuredStart(space, std::move(guided), options));
}

}  // namespace idletune
