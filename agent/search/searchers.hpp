// The searchers behind ask/tell. All are deterministic under their seed and bounded in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <idletune/configuration.hpp>

#include "agent/search/search_learner.hpp"
#include "agent/search/searcher.hpp"
#include "models/predict/model.hpp"
#include "models/space/space.hpp"

namespace idletune {

// How wide a configuration's launches are, for who knows nothing else of a GPU.
class WorkGroups {
 public:
  virtual ~WorkGroups() = default;
  // Work items of a group, of the launch that has the fewest in one; 0: it cannot be launched.
  virtual std::uint64_t items(const Configuration& configuration) const = 0;
};

struct SearcherOptions {
  std::uint64_t seed = 1;
  // Where in the permutation uniform draws begin (modulo its length; it is a ring). Searchers with
  // the same seed and other starts draw other configurations, each a uniform sample.
  std::uint64_t random_start = 0;
  // Every `random_every`-th proposal is a uniform draw, from the beginning. So a search takes at
  // most `random_every` times as long as plain random search. 0: draws come only when the
  // portfolio is exhausted.
  std::uint32_t random_every = 6;
  Configuration fallback;   // the kernel's default: values of parameters the model does not know
  Shape shape;              // what is being tuned for, and
  std::string_view device;  // on what (for the first pick); may be empty
  const SearchLearner* learner = nullptr;  // null: none, and none is linked
  // Of a GPU, to begin where a model knows no device of this kind; null: not known. Not owned; must
  // outlive the searcher.
  const WorkGroups* work_groups = nullptr;
};

// Uniform over the valid configurations, without repetition. The space must outlive the searcher.
std::unique_ptr<Searcher> make_random_searcher(const Space& space, const SearcherOptions& options);

// Search without a history: a few uniform draws, then what `options.learner` proposes, with the
// fixed share of uniform draws; without one nothing but these. The space must outlive the searcher.
std::unique_ptr<Searcher> make_learning_searcher(const Space& space,
                                                 const SearcherOptions& options);

// The first pick that a search on `options.device` begins with. Nothing: the model names none, or
// only of devices of another kind where the search can begin by structure (structured_start.hpp).
std::optional<FirstPick> first_pick_of(const Space& space, const KernelKnowledge& kernel,
                                       const SearcherOptions& options);

// Whether the search begins by structure: it can, and has no first pick. `kernel` may be null.
bool begins_by_structure(const Space& space, const KernelKnowledge* kernel,
                         const SearcherOptions& options);

// What ships: the model's first pick, then its portfolio, re-ranked with each measurement, then
// more and more what the learner proposes, guided by history. A fixed share are uniform draws.
// Where `kernel` is null this is the learning searcher, or the random one if there is no learner
// either. Space and model must outlive the searcher.
std::unique_ptr<Searcher> make_product_searcher(const Space& space, const KernelKnowledge* kernel,
                                                const SearcherOptions& options);

}  // namespace idletune
