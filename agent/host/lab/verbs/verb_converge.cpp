#include "agent/host/cli/lab.hpp"

#include "agent/host/lab/convergence.hpp"

namespace idletune::cli {

namespace {

json to_json(const Convergence& convergence) {
  const json curve = list_of(convergence.curve, [](const Convergence::Point& point) {
    return json::array({point.step, point.mean_best_ns / 1e6});
  });
  return {{"steps", or_null(convergence.steps_of_mean)},
          {"median", or_null(convergence.median_steps)},
          {"reached", convergence.reached},
          {"curve_ms", curve}};
}

// Fewer steps on the pruned space, by the mean over the searches; never is more than any number.
bool improves(const Convergence& pruned, const Convergence& full) {
  if (!pruned.steps_of_mean) return false;
  return !full.steps_of_mean || *pruned.steps_of_mean < *full.steps_of_mean;
}

}  // namespace

void converge_on(const History& history, const Pruning& pruning, const ConvergedSearches& searches,
                 json& results) {
  const auto left = must(pruned_history(pruning, history));
  const auto full = must(Simulation::of(history));
  const Result<Simulation> pruned = Simulation::of(left);
  if (!pruned.ok()) return;  // nothing in it runs: the retention says so
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
    const auto on_full = must(converge(full, searcher, options));
    const auto on_pruned = must(converge(*pruned, searcher, options));
    results.push_back({{"device", history.device},
                       {"searcher", searcher},
                       {"full", to_json(on_full)},
                       {"pruned", to_json(on_pruned)},
                       {"improved", improves(on_pruned, on_full)}});
  }
}

}  // namespace idletune::cli
