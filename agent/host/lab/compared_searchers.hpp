// All searchers by name, those of the host included: what simulations compare. Host side.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <idletune/result.hpp>

#include "agent/host/lab/iterml_searcher.hpp"
#include "agent/search/searchers.hpp"

namespace idletune {

// "iterml", then, each after a colon: the learner (first, if at all), pick=RATIO, cut=RATIO,
// iterations=N, samples=own|all, dropped=last|never. For example iterml:knn:pick=0.01:iterations=3.
// Errors: invalid_argument naming the part that is wrong and what was expected.
Result<IterMlOptions> iterml_options(std::string_view name);

// By the name used on command lines: "random", "product" (with "portfolio" for the same without
// random draws while the portfolio lasts), "forest" (the learning one), "annealing" (simulated,
// with CLTune's parameters), and "iterml..." as above. Those that learn do so by a forest unless the
// options say otherwise. Space and model must outlive the searcher. Error: invalid_argument naming
// the known ones.
Result<std::unique_ptr<Searcher>> make_compared_searcher(std::string_view name, const Space& space,
                                                         const KernelKnowledge* kernel,
                                                         const SearcherOptions& options);

// Empty if make_compared_searcher knows the name, else what is wrong with it.
std::string wrong_with_searcher(std::string_view name);

}  // namespace idletune
