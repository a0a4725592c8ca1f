// All searchers by name, those of the host included: what simulations compare. Host side.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <idletune/result.hpp>

#include "agent/search/iterml_searcher.hpp"
#include "agent/search/searchers.hpp"

namespace idletune {

// "iterml", then, each after a colon: the learner (first, if at all), pick=RATIO, cut=RATIO,
// iterations=N, samples=own|all, dropped=last|never. For example iterml:knn:pick=0.01:iterations=3.
// Errors: invalid_argument naming the part that is wrong and what was expected.
Result<IterMlOptions> iterml_options(std::string_view name);

// make_searcher, and "iterml..." as above.
Result<std::unique_ptr<Searcher>> make_compared_searcher(std::string_view name, const Space& space,
                                                         const KernelKnowledge* kernel,
                                                         const SearcherOptions& options);

// Empty if make_compared_searcher knows the name, else what is wrong with it.
std::string wrong_with_searcher(std::string_view name);

}  // namespace idletune
