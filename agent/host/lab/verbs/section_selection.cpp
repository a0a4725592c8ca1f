// How well configurations are chosen by problem size, where a device was measured at several
// problems.

#include "agent/host/lab/selection/published_tree.hpp"
#include "agent/host/lab/selection/selection_evaluation.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/pictures/plots.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::report {
namespace {

using selection::kTreeHeights;
using selection::kTreeLeaves;
using selection::Problems;
using selection::SplitResults;

constexpr std::size_t kMostSelections = 12;  // pairs of kernel and device that are drawn

struct Asked {
  std::string title;  // of the panel
  std::string device;
  Problems problems;
  SplitResults results;
  std::vector<double> operations;  // by problem; 0: not known
};

// One kernel on one device at all of its problems.
struct Sweep {
  const Group* first = nullptr;
  const Source* source = nullptr;
  std::vector<History> histories;
};

std::vector<Sweep> sweeps_of(const Study& study) {
  std::vector<Sweep> sweeps;
  for (const Group& group : study.groups) {
    for (const Source& source : group.sources) {
      auto found = std::find_if(sweeps.begin(), sweeps.end(), [&](const Sweep& sweep) {
        return sweep.first->kernel == group.kernel &&
               sweep.source->history->device == source.history->device;
      });
      if (found == sweeps.end()) {
        found = sweeps.insert(sweeps.end(), Sweep{&group, &source, {}});
      }
      found->histories.push_back(*source.history);
    }
  }
  return sweeps;
}

std::vector<double> operations_of(const Problems& problems, const Sweep& sweep,
                                  const ReportOptions& options) {
  std::vector<double> operations(problems.count(), 0.0);
  if (!options.rates) return operations;
  for (const History& history : sweep.histories) {
    std::vector<double> sizes;
    for (std::size_t i = 0; i < history.shape.input_count(); ++i) {
      sizes.push_back(history.shape.input(i));
    }
    const auto at = std::find(problems.sizes.begin(), problems.sizes.end(), sizes);
    if (at == problems.sizes.end()) continue;
    operations[static_cast<std::size_t>(at - problems.sizes.begin())] =
        options.rates(history).operations;
  }
  return operations;
}

// Nothing where the device was measured at too few problems.
std::optional<Asked> ask(const Sweep& sweep, const ReportOptions& options) {
  auto problems = selection::problems_of({sweep.histories.data(), sweep.histories.size()});
  if (!problems.ok()) return std::nullopt;
  selection::EvaluationOptions evaluation;
  evaluation.trees = true;
  evaluation.seed = options.seed;
  evaluation.splits = options.seeds;
  auto results = selection::evaluate(*problems, evaluation);
  if (!results.ok()) return std::nullopt;
  std::vector<double> operations = operations_of(*problems, sweep, options);
  return Asked{sweep.first->kernel.empty() ? "(unnamed kernel)" : sweep.first->kernel,
               sweep.source->device, std::move(*problems), std::move(*results),
               std::move(operations)};
}

// --- the 40 trees ---

std::string height_text(std::size_t height) {
  return height == 0 ? "hMax" : "h" + std::to_string(height);
}

Figure::Panel tree_panel(const Asked& asked, bool over_default, std::size_t number) {
  HeatMap map;
  map.x_name = "rows of a leaf at least, or share of all";
  map.y_name = over_default ? "DTTR over that of the best everywhere" : "DTPR, by height";
  for (const double leaf : kTreeLeaves) map.x_labels.push_back("L" + significant(leaf));
  for (const std::size_t height : kTreeHeights) map.y_labels.push_back(height_text(height));
  std::string said;
  for (const selection::TreeLine& tree : asked.results.trees) {
    const double dttr = tree.scores.dttr.mean() / asked.results.ours.peak.mean();
    map.cells.push_back(over_default ? dttr : tree.scores.dtpr.mean());
    said +=
        selection::tree_name(tree.height, tree.leaf) + ": " + significant(map.cells.back()) + ". ";
  }
  map.caption = {(over_default ? "dttr-" : "dtpr-") + std::to_string(number),
                 asked.title + " on " + asked.device + ": " + map.y_name, said};
  return {asked.title, (over_default ? "DTTR, " : "DTPR, ") + asked.device, draw(map), ""};
}

Figure tree_figure(const std::vector<Asked>& all) {
  Figure figure("What the 40 published trees are worth");
  const char* const shades[] = {"under 0.5",  "0.5 to 0.7",  "0.7 to 0.8",
                                "0.8 to 0.9", "0.9 to 0.95", "0.95 and more"};
  for (int i = 0; i < HeatMap::kShades; ++i) {
    figure.legend.push_back({"heat h" + std::to_string(i + 1), false, shades[i]});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    figure.panels.push_back(tree_panel(all[i], false, i + 1));
    figure.panels.push_back(tree_panel(all[i], true, i + 1));
  }
  figure.caption =
      "Trees of Cianfriglia et al. 2018 (figures 4 and 5) by height and size of leaves, on "
      "problems that were not learned from. DTPR: mean of the best time over the time of the "
      "choice. DTTR: mean of the default\u2019s time over the time of the choice, here relative to "
      "that of the best everywhere.";
  figure.counts = {{"trees", all.size() * all.front().results.trees.size()}};
  return figure;
}

// --- problem by problem ---

struct ChoiceLine {
  int series;
  const char* name;
};
constexpr ChoiceLine kChoices[] = {{1, "the best configuration of each problem"},
                                   {2, "ours"},
                                   {3, "the best of the 40 trees"},
                                   {4, "the default: two configurations and a threshold"}};

// ns of a choice; where it does not run, of the default.
double time_of(const Asked& asked, std::size_t problem, std::size_t method) {
  const double ns = asked.problems.ns[problem][method];
  return ns > 0 ? ns : asked.results.usual.ns(asked.problems, problem);
}

Figure::Panel problem_panel(const Asked& asked, std::size_t number) {
  const SplitResults& results = asked.results;
  const bool known = std::all_of(results.tested.begin(), results.tested.end(),
                                 [&](std::size_t p) { return asked.operations[p] > 0; });
  std::vector<std::size_t> order(results.tested.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto best = [&](std::size_t i) {
      const std::size_t p = results.tested[i];
      return asked.problems.ns[p][asked.problems.best(p)];
    };
    return best(a) < best(b);
  });
  CurvePlot plot;
  plot.x_name = "problems to test with, by their best time";
  plot.y_name = known ? "GFLOP/s" : "launches per second";
  plot.linear_x = plot.logarithmic_y = true;
  const selection::TreeLine* tree = results.best_tree();
  for (const ChoiceLine& line : kChoices) plot.curves.push_back({line.series, {}, {}, {}});
  for (std::size_t x = 0; x < order.size(); ++x) {
    const std::size_t i = order[x];
    const std::size_t p = results.tested[i];
    const double times[] = {
        asked.problems.ns[p][asked.problems.best(p)], time_of(asked, p, results.choices[i]),
        time_of(asked, p, tree->choices[i]), results.usual.ns(asked.problems, p)};
    const double work = known ? asked.operations[p] : 1e9;
    for (std::size_t c = 0; c < std::size(kChoices); ++c) {
      plot.curves[c].points.push_back({static_cast<double>(x + 1), work / times[c]});
    }
  }
  plot.caption = {"choices-" + std::to_string(number), asked.title + " on " + asked.device,
                  plot.y_name + " of four ways to choose, at " +
                      counted(order.size(), "problem", "problems") +
                      " that were not learned from."};
  return {asked.title, asked.device, draw(plot), ""};
}

Figure problem_figure(const std::vector<Asked>& all) {
  Figure figure("Problem by problem", legend_of(kChoices));
  std::size_t problems = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    figure.panels.push_back(problem_panel(all[i], i + 1));
    problems += all[i].results.tested.size();
  }
  figure.caption =
      "The problems of the first split that were not learned from (Cianfriglia et al. 2018, "
      "figures 6 and 7).";
  figure.counts = {{"problems", problems}};
  return figure;
}

// --- by the number of compiled configurations ---

Figure::Panel class_panel(const Asked& asked, std::size_t number) {
  CurvePlot plot;
  plot.x_name = "configurations that are compiled, at most";
  plot.y_name = "DTPR";
  plot.percentages = true;
  Curve mean{2, {}, {}, {}};
  Curve tenth{4, {}, {}, {}};
  for (std::size_t i = 0; i < asked.results.by_classes.size(); ++i) {
    const selection::Scores& scores = asked.results.by_classes[i];
    const auto x = static_cast<double>(selection::kClassCounts[i]);
    mean.points.push_back({x, scores.dtpr.mean()});
    mean.low.push_back({x, scores.dtpr.mean() - scores.dtpr.deviation()});
    mean.high.push_back({x, scores.dtpr.mean() + scores.dtpr.deviation()});
    tenth.points.push_back({x, scores.p10.mean()});
  }
  plot.caption = {"classes-" + std::to_string(number), asked.title + " on " + asked.device,
                  "What choices are worth among at most 1 to 32 configurations."};
  plot.curves = {std::move(mean), std::move(tenth)};
  return {asked.title, asked.device, draw(plot), ""};
}

Figure class_figure(const std::vector<Asked>& all) {
  Figure figure("How many configurations have to be compiled",
                {{"curve s2", false, "mean, and the standard deviation over the splits"},
                 {"curve s4", false, "10th percentile"}});
  for (std::size_t i = 0; i < all.size(); ++i) {
    figure.panels.push_back(class_panel(all[i], i + 1));
  }
  figure.caption =
      "Ours among the configurations that cover the problems learned from best. DTPR as above.";
  figure.counts = {{"points", all.size() * std::size(selection::kClassCounts)}};
  return figure;
}

// --- tables ---

std::string with_spread(const selection::Spread& spread) {
  return significant(spread.mean()) +
         (spread.values.size() > 1 ? " \u00B1 " + significant(spread.deviation(), 2) : "");
}

std::vector<std::string> row_of(const Asked& asked, const std::string& choice,
                                const selection::Scores& scores) {
  return {asked.title,
          asked.device,
          choice,
          percent_text(scores.accuracy.mean()),
          with_spread(scores.dtpr),
          with_spread(scores.p10),
          with_spread(scores.dttr),
          with_spread(scores.captured)};
}

Table choice_table(const std::vector<Asked>& all) {
  Table table("Ways to choose", {"kernel", "device", "choice", ">right", ">DTPR",
                                 ">10th percentile", ">DTTR", ">captured"});
  for (const Asked& asked : all) {
    const SplitResults& results = asked.results;
    table.rows.push_back(row_of(asked, "the best single configuration", results.single));
    const selection::TreeLine& best = *results.best_tree();
    table.rows.push_back(row_of(
        asked, "the best tree, " + selection::tree_name(best.height, best.leaf), best.scores));
    for (std::size_t i = 0; i < results.by_classes.size(); ++i) {
      table.rows.push_back(row_of(asked, "ours among " + std::to_string(selection::kClassCounts[i]),
                                  results.by_classes[i]));
    }
    table.rows.push_back(row_of(asked, "ours", results.ours));
  }
  table.caption =
      "Captured: (DTTR \u2212 1) / (DTTR of the best everywhere \u2212 1). The best tree is chosen "
      "on the problems to test with, as published; ours is not.";
  return table;
}

Table tree_table(const std::vector<Asked>& all) {
  Table table("All trees",
              {"kernel", "device", "tree", ">right", ">DTPR", ">DTTR", ">leaves", ">height"},
              /*is_folded=*/true);
  for (const Asked& asked : all) {
    for (const selection::TreeLine& tree : asked.results.trees) {
      table.rows.push_back({asked.title, asked.device, selection::tree_name(tree.height, tree.leaf),
                            percent_text(tree.scores.accuracy.mean()),
                            with_spread(tree.scores.dtpr), with_spread(tree.scores.dttr),
                            significant(tree.leaves.mean()), significant(tree.tree_height.mean())});
    }
  }
  table.caption = "Means over the splits; \u00B1: standard deviation.";
  return table;
}

}  // namespace

Section selection_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  Section section{"selection", "Does choosing by problem size pay?", {}};
  std::vector<Asked> all;
  const std::vector<Sweep> sweeps = sweeps_of(study);
  std::size_t looked = 0;
  for (const Sweep& sweep : sweeps) {
    if (all.size() == kMostSelections || !go_on("selection: " + sweep.first->kernel)) break;
    ++looked;
    if (auto asked = ask(sweep, options)) all.push_back(std::move(*asked));
  }
  if (all.empty()) return section;
  section.parts.push_back(Paragraph{
      "Where a kernel was measured at several problems, one configuration for all of them is "
      "compared with choosing one by the problem\u2019s size. Learned on 80\u00A0% of the "
      "problems, asked at the others; " +
      counted(options.seeds, "split", "splits") + ", seeds from " + count_text(options.seed) +
      " on." + left_out(looked, sweeps.size(), "pairs of kernel and device are here")});
  section.parts.push_back(tree_figure(all));
  section.parts.push_back(problem_figure(all));
  section.parts.push_back(class_figure(all));
  section.parts.push_back(choice_table(all));
  section.parts.push_back(tree_table(all));
  return section;
}

}  // namespace idletune::report
