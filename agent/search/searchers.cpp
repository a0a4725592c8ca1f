#include "agent/search/searchers.hpp"

#include "agent/search/learning_searcher.hpp"
#include "agent/search/product_searcher.hpp"
#include "agent/search/random_searcher.hpp"

namespace idletune {

std::unique_ptr<Searcher> make_random_searcher(const Space& space, const SearcherOptions& options) {
  return std::unique_ptr<Searcher>(new RandomSearcher(space, options));
}

std::unique_ptr<Searcher> make_learning_searcher(const Space& space,
                                                 const SearcherOptions& options) {
  return std::unique_ptr<Searcher>(new LearningSearcher(space, options));
}

std::unique_ptr<Searcher> make_product_searcher(const Space& space, const KernelKnowledge* kernel,
                                                const SearcherOptions& options) {
  if (kernel == nullptr && options.learner == nullptr) return make_random_searcher(space, options);
  if (kernel == nullptr) return make_learning_searcher(space, options);
  return std::unique_ptr<Searcher>(new ProductSearcher(space, *kernel, options));
}

}  // namespace idletune
