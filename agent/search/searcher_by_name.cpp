// Apart from searchers.cpp, so that an application which names no searcher does not link those that
// only serve comparisons, or the learner.
#include <string>

#include <idletune/learning.hpp>

#include "agent/search/annealing_searcher.hpp"
#include "agent/search/genetic_searcher.hpp"
#include "agent/search/searchers.hpp"

namespace idletune {

std::unique_ptr<Searcher> make_annealing_searcher(const Space& space,
                                                  const SearcherOptions& options) {
  return std::unique_ptr<Searcher>(new AnnealingSearcher(space, options));
}

std::unique_ptr<Searcher> make_genetic_searcher(const Space& space,
                                                const SearcherOptions& options) {
  return std::unique_ptr<Searcher>(new GeneticSearcher(space, options));
}

Result<std::unique_ptr<Searcher>> make_searcher(std::string_view name, const Space& space,
                                                const KernelKnowledge* kernel,
                                                const SearcherOptions& given) {
  SearcherOptions options = given;
  if (options.learner == nullptr) options.learner = forest_learner();
  if (name == "random") return make_random_searcher(space, options);
  if (name == "product") return make_product_searcher(space, kernel, options);
  if (name == "portfolio") {
    options.random_every = 0;
    return make_product_searcher(space, kernel, options);
  }
  if (name == "forest") return make_learning_searcher(space, options);
  if (name == "annealing") return make_annealing_searcher(space, options);
  if (name == "genetic") return make_genetic_searcher(space, options);
  return Status(
      StatusCode::invalid_argument,
      {"searcher '", name, "': expected random, product, portfolio, forest, annealing or genetic"});
}

}  // namespace idletune
