#include "agent/search/searchers.hpp"

#include <string>

#include "agent/search/product_searcher.hpp"
#include "agent/search/random_searcher.hpp"

namespace idletune {

std::unique_ptr<Searcher> make_random_searcher(const Space& space, const SearcherOptions& options) {
  return std::unique_ptr<Searcher>(new RandomSearcher(space, options));
}

std::unique_ptr<Searcher> make_product_searcher(const Space& space, const KernelKnowledge* kernel,
                                                const SearcherOptions& options) {
  if (kernel == nullptr) return make_random_searcher(space, options);
  return std::unique_ptr<Searcher>(new ProductSearcher(space, *kernel, options));
}

Result<std::unique_ptr<Searcher>> make_searcher(std::string_view name, const Space& space,
                                                const KernelKnowledge* kernel,
                                                const SearcherOptions& options) {
  if (name == "random") return make_random_searcher(space, options);
  if (name == "product") return make_product_searcher(space, kernel, options);
  if (name == "portfolio") {
    SearcherOptions without_random = options;
    without_random.random_every = 0;
    return make_product_searcher(space, kernel, without_random);
  }
  return Status(StatusCode::invalid_argument, "searcher '" + std::string(name) +
                "': expected random, product or portfolio");
}

}  // namespace idletune
