// What builds without the lab (IDLETUNE_LAB) answer where it is needed. Every function that needs
// it is defined either in the files that use agent/host/lab or, in such builds, in without_lab.cpp.
#pragma once

#include <idletune/aims.hpp>

#include "agent/host/cli/context.hpp"
#include "models/forest/learner.hpp"
#include "models/host/insight/pruning.hpp"

namespace idletune::cli {

bool built_with_lab();

// unsupported: "built without the lab: configure with -DIDLETUNE_LAB=ON".
inline Status needs_lab() {
  return {StatusCode::unsupported, "built without the lab: configure with -DIDLETUNE_LAB=ON"};
}

// The description of a verb or an option that needs the lab, with a remark where it is missing.
inline std::string of_lab(const std::string& description) {
  return built_with_lab() ? description : description + " (not in this build, which has no lab)";
}

// "svr": support vector regression. Null for another name, and without the lab.
std::unique_ptr<learners::Learner> make_lab_learner(std::string_view name);

struct PredictionOptions {
  double threshold = kWellPerforming;  // relative performance that counts as well-performing
  std::size_t repeats = 1000;          // replays of random search per device
  std::uint64_t seed = 1;              // of the first
};

// For every device and tuning space among `histories`: the median steps of the replays, and what
// the other devices of the same space predict; as JSON {predictions[], summary{}}, with devices
// whose space no other has in `alone[]`. In a build without the lab it fails.
void report_steps_predictions(const std::vector<History>& histories,
                              const PredictionOptions& options, CliContext& context);

struct ConvergedSearches {
  std::vector<std::string> searchers;  // "random", "annealing"
  double until = kWellPerforming;      // relative performance that counts as found
  std::size_t repeats = 1000;          // with the seeds seed, seed + 1, ...
  std::uint64_t seed = 1;
};

// On one device, each searcher on both spaces; appends to `results`. Errors: those of
// pruned_history and converge; unsupported in a build without the lab.
void converge_on(const History& history, const Pruning& pruning, const ConvergedSearches& searches,
                 json& results);

// Formats, kernels and work groups chosen for matrices that were left out, by what the model has
// and by other learners; null where no history is of a matrix. Prints a table unless it is for
// JSON.
json report_choices(const std::vector<const History*>& histories, const CliContext& context);

// Tables 4 to 7 of Li and Suda 2012 on these histories, beside theirs. Errors: unsupported without
// the lab; invalid_argument where no history is of a matrix.
Result<json> report_as_published(const std::vector<const History*>& histories,
                                 const CliContext& context);

}  // namespace idletune::cli
