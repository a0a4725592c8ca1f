// Convergence on full and pruned spaces (Olha et al. 2020, figure 5 and table 11).

#include "agent/host/lab/convergence.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "models/host/insight/pruning.hpp"

namespace idletune::report {
namespace {

struct Run {
  const char* searcher;
  bool pruned;
  int series;
  const char* name;
};

constexpr Run kRuns[] = {{"random", false, 1, "random search, full space"},
                         {"random", true, 2, "random search, pruned space"},
                         {"annealing", false, 3, "simulated annealing, full space"},
                         {"annealing", true, 4, "simulated annealing, pruned space"}};

// By the run that it is of.
using Outcomes = std::map<const Run*, Convergence>;

// The device to prune with: another one of the group where there is one, as on a new device.
const Source& pruning_source(const Pair& target) {
  for (const Source& source : target.group->sources) {
    if (&source != target.source) return source;
  }
  return *target.source;
}

// Nothing where no parameter can be spared.
std::optional<History> pruned_target(const Pair& target, double threshold) {
  PruningOptions options;
  options.retention = threshold;
  const Result<Pruning> pruning =
      prune(*pruning_source(target).history, PruningMethod::conservative, options);
  if (!pruning.ok() || pruning->pruned.empty()) return std::nullopt;
  Result<History> pruned = pruned_history(*pruning, *target.source->history);
  if (!pruned.ok()) return std::nullopt;
  return std::move(*pruned);
}

// False if the user asked to stop.
bool run(const Pair& target, const std::optional<History>& pruned, const ReportOptions& options,
         const Continue& go_on, Outcomes& outcomes) {
  const History& full = *target.source->history;
  ConvergenceOptions convergence;
  convergence.repeats = options.repeats;
  convergence.seed = options.seed;
  convergence.until = options.threshold;
  convergence.full = &full;
  for (const Run& run : kRuns) {
    if (run.pruned && !pruned) continue;
    if (!go_on("convergence: " + target.name())) return false;
    const Result<Simulation> simulation = Simulation::of(run.pruned ? *pruned : full);
    if (!simulation.ok() && !run.pruned) continue;
    Result<Convergence> result = simulation.ok() ? converge(*simulation, run.searcher, convergence)
                                                 : Convergence();  // nothing in it runs: never
    if (result.ok()) outcomes.emplace(&run, std::move(*result));
  }
  return true;
}

void add(Figure& figure, Table& table, const Pair& target, const Outcomes& outcomes,
         const std::string& remark, const ReportOptions& options) {
  CurvePlot plot{{"configurations tried", Axis::logarithmic},
                 {"best so far, relative to the best of all", Axis::shares, 0, 1},
                 {},
                 options.threshold};
  std::string said =
      "Steps until the mean reaches " + percent_text(options.threshold) + " of the best:";
  const double best_ns = target.source->history->best_time_ns();
  for (const auto& [run, convergence] : outcomes) {
    Curve curve{run->series};
    for (const Convergence::Point& point : convergence.curve) {
      const auto step = static_cast<double>(point.step);
      curve.add(step, best_ns / point.mean_best_ns);
      curve.add_band(step, best_ns / point.slow_best_ns, best_ns / point.fast_best_ns);
    }
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
    const std::string steps = count_or_never(convergence.steps_of_mean);
    said += std::string(" ") + run->name + ", " + steps + ".";
    const auto& median = convergence.median_steps;
    table.rows.push_back({target.group->title, target.source->device, run->name, steps,
                          median ? mean_count_text(std::ceil(*median)) : "-",
                          percent_text(convergence.reached)});
  }
  figure.add(plot, target.group->title, "on " + target.source->device, remark, said);
}

// In how many cases a searcher is there earlier on the pruned space (table 11).
struct PruningEffect {
  std::size_t cases = 0;
  std::size_t random_earlier = 0;
  std::size_t annealing_earlier = 0;

  void count(const Outcomes& outcomes) {
    if (outcomes.size() < std::size(kRuns)) return;
    const auto earlier = [&](const Run& pruned, const Run& full) {
      const auto& steps = outcomes.at(&pruned).steps_of_mean;
      const auto& all = outcomes.at(&full).steps_of_mean;
      return steps && (!all || *steps < *all) ? 1 : 0;
    };
    ++cases;
    random_earlier += earlier(kRuns[1], kRuns[0]);
    annealing_earlier += earlier(kRuns[3], kRuns[2]);
  }
  std::string finding(double threshold) const {
    if (cases == 0) return {};
    return " Of " + counted(cases, "pruned space", "pruned spaces") + ", the mean reaches " +
           percent_text(threshold) + " in fewer steps than on the full one with random search in " +
           count_text(random_earlier) + ", with simulated annealing in " +
           count_text(annealing_earlier) + ".";
  }
};

}  // namespace

Section convergence_section(const Study& study, const ReportOptions& options,
                            const Continue& go_on) {
  const std::string threshold = percent_text(options.threshold);
  Figure figure("convergence", "Convergence on full and pruned spaces", legend_of(kRuns));
  Table table("Steps to a good configuration",
              {"kernel", "device", "search", ">mean there after", ">median", ">reached"},
              /*is_folded=*/true);
  PruningEffect effect;
  std::size_t looked = 0;
  for (const Pair& target : study.pairs()) {
    if (figure.panels.size() == kMostPanels) break;
    ++looked;
    const auto pruned = pruned_target(target, options.threshold);
    Outcomes outcomes;
    if (!run(target, pruned, options, go_on, outcomes)) return {};
    if (outcomes.empty()) continue;
    add(figure, table, target, outcomes,
        pruned ? "pruned with " + pruning_source(target).device : "nothing to prune", options);
    effect.count(outcomes);
  }
  figure.caption =
      "The best run time of the full space divided by the mean, over " +
      counted(options.repeats, "simulated search", "simulated searches") + " (seeds " +
      count_text(options.seed) + " to " + count_text(options.seed + options.repeats - 1) +
      "), of the best run time found so far; before anything ran correctly the slowest time "
      "counts. Shaded: where eight of ten searches are. Dashed: " +
      threshold +
      ". Spaces are pruned conservatively with another device\u2019s history where there is one." +
      pairs_left_out(study, looked, "drawn");
  figure.counts.update({{"repeats", options.repeats}, {"seed", options.seed}});
  table.caption = "Mean there after: the first step at which the mean curve is at " + threshold +
                  ". Median: steps of single searches until they found such a configuration. "
                  "Reached: share of searches that found one.";
  const Paragraph lead{
      "A search that rises early is worth more than one that ends high. Pruning makes the space "
      "smaller, but the share of good configurations in it need not grow: whether it helps is "
      "different from kernel to kernel." +
      effect.finding(options.threshold)};
  return {"convergence", "How fast a search gets there", {lead, figure, table}};
}

}  // namespace idletune::report
