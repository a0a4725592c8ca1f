#include "agent/cli/prune_convergence.hpp"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "agent/lab/convergence.hpp"

namespace idletune::cli {

namespace {

nlohmann::json number_or_null(const std::optional<std::uint64_t>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json to_json(const Convergence& convergence) {
  nlohmann::json curve = nlohmann::json::array();
  for (const Convergence::Point& point : convergence.curve) {
    curve.push_back({point.step, point.mean_best_ns / 1e6});
  }
  return {{"steps", number_or_null(convergence.steps_of_mean)},
          {"median", number_or_null(convergence.median_steps)},
          {"reached", convergence.reached},
          {"curve_ms", curve}};
}

// Fewer steps on the pruned space, by the mean over the searches; never is more than any number.
bool improves(const Convergence& pruned, const Convergence& full) {
  if (!pruned.steps_of_mean) return false;
  return !full.steps_of_mean || *pruned.steps_of_mean < *full.steps_of_mean;
}

}  // namespace

Status converge_on(const History& history, const Pruning& pruning,
                   const ConvergedSearches& searches, nlohmann::json& results) {
  const Result<History> left = pruned_history(pruning, history);
  if (!left.ok()) return left.status();
  const Result<Simulation> full = Simulation::of(history);
  if (!full.ok()) return full.status();
  const Result<Simulation> pruned = Simulation::of(*left);
  if (!pruned.ok()) return Status();  // nothing in it runs: the retention says so
  ConvergenceOptions options;
  options.until = searches.until;
  options.repeats = searches.repeats;
  options.seed = searches.seed;
  options.best_ns = history.best_time_ns();
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.correct(row))
      options.worst_ns = std::max(options.worst_ns, history.run_time_ns(row));
  }
  for (const std::string& searcher : searches.searchers) {
    const auto on_full = converge(*full, searcher, options);
    if (!on_full.ok()) return on_full.status();
    const auto on_pruned = converge(*pruned, searcher, options);
    if (!on_pruned.ok()) return on_pruned.status();
    results.push_back({{"device", history.device},
                       {"searcher", searcher},
                       {"full", to_json(*on_full)},
                       {"pruned", to_json(*on_pruned)},
                       {"improved", improves(*on_pruned, *on_full)}});
  }
  return Status();
}

}  // namespace idletune::cli
