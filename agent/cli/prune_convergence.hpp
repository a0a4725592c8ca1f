// What `idletune prune --converge` adds: how soon searches find a good configuration in the full
// and in the pruned space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <idletune/result.hpp>

#include "models/history/history.hpp"
#include "models/insight/pruning.hpp"

namespace idletune::cli {

struct ConvergedSearches {
  std::vector<std::string> searchers;  // "random", "annealing"
  double until = 0.9;                  // relative performance that counts as found
  std::size_t repeats = 1000;          // with the seeds seed, seed + 1, ...
  std::uint64_t seed = 1;
};

// On one device, each searcher on both spaces; appends to `results`. Errors: those of
// pruned_history and converge; unsupported in a build without the lab.
Status converge_on(const History& history, const Pruning& pruning,
                   const ConvergedSearches& searches, nlohmann::json& results);

}  // namespace idletune::cli
