// Convergence on full and pruned spaces (Olha et al. 2020, figure 5 and table 11).

#include "agent/host/lab/convergence.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/pictures/plots.hpp"
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

struct Outcome {
  const Run* run;
  Convergence convergence;
};

// The pruned space of one target; nothing where no parameter can be spared or nothing is left that
// runs.
struct PrunedTarget {
  std::string from;
  History history;
};

// The device to prune with: another one of the group where there is one, as on a new device.
const Source& pruning_source(const Group& group, const Source& target) {
  for (const Source& source : group.sources) {
    if (&source != &target) return source;
  }
  return target;
}

std::optional<PrunedTarget> pruned_target(const Group& group, const Source& target,
                                          double threshold) {
  const Source& from = pruning_source(group, target);
  PruningOptions options;
  options.retention = threshold;
  const Result<Pruning> pruning = prune(*from.history, PruningMethod::conservative, options);
  if (!pruning.ok() || pruning->pruned.empty()) return std::nullopt;
  Result<History> pruned = pruned_history(*pruning, *target.history);
  if (!pruned.ok() || pruned->count(TrialStatus::correct) == 0) return std::nullopt;
  return PrunedTarget{from.device, std::move(*pruned)};
}

double slowest_ns(const History& history) {
  double slowest = 0;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.correct(row)) slowest = std::max(slowest, history.run_time_ns(row));
  }
  return slowest;
}

std::optional<Convergence> converge_on(const History& history, const Source& target, const Run& run,
                                       const ReportOptions& options) {
  const Result<Simulation> simulation = Simulation::of(history);
  if (!simulation.ok()) return std::nullopt;
  ConvergenceOptions convergence;
  convergence.repeats = options.repeats;
  convergence.seed = options.seed;
  convergence.until = options.threshold;
  convergence.best_ns = target.history->best_time_ns();
  convergence.worst_ns = slowest_ns(*target.history);
  Result<Convergence> result = converge(*simulation, run.searcher, convergence);
  if (!result.ok()) return std::nullopt;
  return std::move(*result);
}

std::string median_text(const std::optional<double>& steps) {
  return steps ? count_text(static_cast<std::uint64_t>(std::ceil(*steps))) : "-";
}

Curve curve_of(const Outcome& outcome, double best_ns) {
  Curve curve;
  curve.series = outcome.run->series;
  for (const Convergence::Point& point : outcome.convergence.curve) {
    const auto step = static_cast<double>(point.step);
    curve.points.push_back({step, best_ns / point.mean_best_ns});
    curve.low.push_back({step, best_ns / point.slow_best_ns});
    curve.high.push_back({step, best_ns / point.fast_best_ns});
  }
  return curve;
}

Figure::Panel panel_of(const Group& group, const std::vector<Outcome>& outcomes,
                       const Source& target, const std::string& pruned_with, std::size_t number,
                       double threshold) {
  CurvePlot plot;
  plot.caption = {"convergence-" + std::to_string(number),
                  group.title + " on " + target.device + ": convergence",
                  "Steps until the mean reaches " + percent_text(threshold) + " of the best:"};
  plot.x_name = "configurations tried";
  plot.y_name = "best so far, relative to the best of all";
  plot.percentages = true;
  plot.level = threshold;
  plot.y_low = 0;
  plot.y_high = 1;
  for (const Outcome& outcome : outcomes) {
    plot.curves.push_back(curve_of(outcome, target.history->best_time_ns()));
    plot.caption.description += std::string(" ") + outcome.run->name + ", " +
                                count_or_never(outcome.convergence.steps_of_mean) + ".";
  }
  return {group.title, "on " + target.device, draw(plot),
          pruned_with.empty() ? "nothing to prune" : "pruned with " + pruned_with};
}

void add_rows(Table& table, const Group& group, const Source& target,
              const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    table.rows.push_back({group.title, target.device, outcome.run->name,
                          count_or_never(outcome.convergence.steps_of_mean),
                          median_text(outcome.convergence.median_steps),
                          percent_text(outcome.convergence.reached)});
  }
}

// In how many cases a searcher is there earlier on the pruned space (table 11).
struct PruningEffect {
  std::size_t cases = 0;
  std::size_t random_earlier = 0;
  std::size_t annealing_earlier = 0;
};

const Convergence* outcome_of(const std::vector<Outcome>& outcomes, int series) {
  for (const Outcome& outcome : outcomes) {
    if (outcome.run->series == series) return &outcome.convergence;
  }
  return nullptr;
}

bool is_earlier(const Convergence& pruned, const Convergence& full) {
  if (!pruned.steps_of_mean) return false;
  return !full.steps_of_mean || *pruned.steps_of_mean < *full.steps_of_mean;
}

void count(PruningEffect& effect, const std::vector<Outcome>& outcomes) {
  const Convergence* of[5] = {};
  for (const Run& run : kRuns) of[run.series] = outcome_of(outcomes, run.series);
  if (!of[1] || !of[2] || !of[3] || !of[4]) return;
  ++effect.cases;
  effect.random_earlier += is_earlier(*of[2], *of[1]) ? 1 : 0;
  effect.annealing_earlier += is_earlier(*of[4], *of[3]) ? 1 : 0;
}

std::string finding(const PruningEffect& effect, double threshold) {
  if (effect.cases == 0) return {};
  return " Of " + counted(effect.cases, "pruned space", "pruned spaces") + ", the mean reaches " +
         percent_text(threshold) + " in fewer steps than on the full one with random search in " +
         count_text(effect.random_earlier) + ", with simulated annealing in " +
         count_text(effect.annealing_earlier) + ".";
}

std::string figure_caption(const ReportOptions& options) {
  return "The best run time of the full space divided by the mean, over " +
         counted(options.repeats, "simulated search", "simulated searches") + " (seeds " +
         count_text(options.seed) + " to " + count_text(options.seed + options.repeats - 1) +
         "), of the best run time found so far; before anything ran correctly the slowest time "
         "counts. Shaded: where eight of ten searches are. Dashed: " +
         percent_text(options.threshold) +
         ". Spaces are pruned conservatively with another device\u2019s history where there is "
         "one.";
}

}  // namespace

Section convergence_section(const Study& study, const ReportOptions& options,
                            const Continue& go_on) {
  Section section{"convergence", "How fast a search gets there", {}};
  PruningEffect effect;
  const std::string lead =
      "A search that rises early is worth more than one that ends high. Pruning makes the space "
      "smaller, but the share of good configurations in it need not grow: whether it helps is "
      "different from kernel to kernel.";
  Figure figure("Convergence on full and pruned spaces", legend_of(kRuns));
  Table table("Steps to a good configuration",
              {"kernel", "device", "search", ">mean there after", ">median", ">reached"},
              /*is_folded=*/true);
  std::size_t looked = 0;
  for (const Group& group : study.groups) {
    for (const Source& target : group.sources) {
      if (figure.panels.size() == kMostPanels) break;
      ++looked;
      const std::string title = group.title + " on " + target.device;
      if (!go_on("convergence: " + title)) return section;
      const auto pruned = pruned_target(group, target, options.threshold);
      std::vector<Outcome> outcomes;
      for (const Run& run : kRuns) {
        if (run.pruned && !pruned) continue;
        auto convergence =
            converge_on(run.pruned ? pruned->history : *target.history, target, run, options);
        if (convergence) outcomes.push_back({&run, std::move(*convergence)});
        if (!go_on("convergence: " + title)) return section;
      }
      if (outcomes.empty()) continue;
      figure.panels.push_back(panel_of(group, outcomes, target, pruned ? pruned->from : "",
                                       figure.panels.size() + 1, options.threshold));
      add_rows(table, group, target, outcomes);
      count(effect, outcomes);
    }
  }
  figure.caption = figure_caption(options) +
                   left_out(looked, study.source_count(), "pairs of kernel and device are drawn");
  figure.counts = {
      {"curves", table.rows.size()}, {"repeats", options.repeats}, {"seed", options.seed}};
  table.caption = "Mean there after: the first step at which the mean curve is at " +
                  percent_text(options.threshold) +
                  ". Median: steps of single searches until they found such a configuration. "
                  "Reached: share of searches that found one.";
  section.parts.push_back(Paragraph{lead + finding(effect, options.threshold)});
  section.parts.push_back(std::move(figure));
  section.parts.push_back(std::move(table));
  return section;
}

}  // namespace idletune::report
