// How well configurations are chosen by problem size, where a device was measured at several
// problems.

#include "agent/host/lab/selection/published_tree.hpp"
#include "agent/host/lab/selection/selection_evaluation.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::report {
namespace {

using selection::kTreeHeights;
using selection::kTreeLeaves;
using selection::Problems;
using selection::SplitResults;

constexpr std::size_t kMostSelections = 12;  // pairs of kernel and device that are drawn

// One kernel on one device at all of its problems.
struct Sweep {
  std::string kernel;
  std::string device;
  std::string title;
  std::vector<History> histories;
};

struct Asked {
  std::string title;
  std::string device;
  Problems problems;
  SplitResults results;
  std::vector<double> operations;  // by problem; 0: not known
};

std::vector<Sweep> sweeps_of(const Study& study) {
  std::vector<Sweep> sweeps;
  for (const auto& [group, source] : study.pairs()) {
    const Sweep sweep{group->kernel, source->history->device, source->device, {}};
    auto found = std::find_if(sweeps.begin(), sweeps.end(), [&](const Sweep& other) {
      return other.kernel == sweep.kernel && other.device == sweep.device;
    });
    if (found == sweeps.end()) found = sweeps.insert(sweeps.end(), sweep);
    found->histories.push_back(*source->history);
  }
  return sweeps;
}

std::vector<double> operations_of(const Problems& problems, const Sweep& sweep,
                                  const ReportOptions& options) {
  std::vector<double> operations(problems.count(), 0.0);
  if (!options.rates || problems.count() != sweep.histories.size()) return operations;
  for (std::size_t p = 0; p < problems.count(); ++p)
    operations[p] = options.rates(sweep.histories[p]).operations;
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
  return Asked{sweep.kernel.empty() ? "(unnamed kernel)" : sweep.kernel, sweep.title,
               std::move(*problems), std::move(*results), std::move(operations)};
}

void add_trees(Figure& figure, const Asked& asked, bool over_default) {
  HeatMap map{"rows of a leaf at least, or share of all",
              over_default ? "DTTR over that of the best everywhere" : "DTPR, by height",
              {},
              {},
              {}};
  for (const double leaf : kTreeLeaves) map.x_labels.push_back("L" + significant(leaf));
  for (const std::size_t height : kTreeHeights)
    map.y_labels.push_back(height == 0 ? "hMax" : "h" + std::to_string(height));
  std::string said = map.y_name + ".";
  for (const selection::TreeLine& tree : asked.results.trees) {
    map.cells.push_back(over_default ? tree.scores.dttr.mean() / asked.results.ours.peak.mean()
                                     : tree.scores.dtpr.mean());
    said += " " + selection::tree_name(tree.height, tree.leaf) + ": " +
            significant(map.cells.back()) + ".";
  }
  figure.add(map, asked.title, (over_default ? "DTTR, " : "DTPR, ") + asked.device, "", said);
}

struct ChoiceLine {
  int series;
  const char* name;
};
constexpr ChoiceLine kChoices[] = {{1, "the best configuration of each problem"},
                                   {2, "ours"},
                                   {3, "the best of the 40 trees"},
                                   {4, "the default: two configurations and a threshold"}};

// Problem by problem, those of the shortest best time first.
void add_problems(Figure& figure, const Asked& asked) {
  const SplitResults& results = asked.results;
  const auto best = [&](std::size_t problem) {
    return asked.problems.ns[problem][asked.problems.best(problem)];
  };
  const auto usual = [&](std::size_t problem) { return results.usual.ns(asked.problems, problem); };
  // ns of a choice; where it does not run, of the default.
  const auto time_of = [&](std::size_t problem, std::size_t method) {
    const double ns = asked.problems.ns[problem][method];
    return ns > 0 ? ns : usual(problem);
  };
  const bool known = std::all_of(results.tested.begin(), results.tested.end(),
                                 [&](std::size_t p) { return asked.operations[p] > 0; });
  std::vector<std::size_t> order(results.tested.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return best(results.tested[a]) < best(results.tested[b]);
  });
  CurvePlot plot;
  plot.x = {"problems to test with, by their best time"};
  plot.y = {known ? "GFLOP/s" : "launches per second", Axis::logarithmic};
  const selection::TreeLine* tree = results.best_tree();
  for (const ChoiceLine& line : kChoices) plot.curves.push_back({line.series});
  for (std::size_t x = 0; x < order.size(); ++x) {
    const std::size_t i = order[x];
    const std::size_t p = results.tested[i];
    const double times[] = {best(p), time_of(p, results.choices[i]), time_of(p, tree->choices[i]),
                            usual(p)};
    const double work = known ? asked.operations[p] : 1e9;
    for (std::size_t c = 0; c < std::size(kChoices); ++c)
      plot.curves[c].add(static_cast<double>(x + 1), work / times[c]);
  }
  figure.add(plot, asked.title, asked.device, "",
             plot.y.name + " of four ways to choose, at " +
                 counted(order.size(), "problem", "problems") + " that were not learned from.");
}

void add_classes(Figure& figure, const Asked& asked) {
  Curve mean{2};
  Curve tenth{4};
  for (std::size_t i = 0; i < asked.results.by_classes.size(); ++i) {
    const selection::Scores& scores = asked.results.by_classes[i];
    const auto x = static_cast<double>(selection::kClassCounts[i]);
    const double dtpr = scores.dtpr.mean(), deviation = scores.dtpr.deviation();
    mean.add(x, dtpr);
    mean.add_band(x, dtpr - deviation, dtpr + deviation);
    tenth.add(x, scores.p10.mean());
  }
  const Axis compiled{"configurations that are compiled, at most", Axis::logarithmic};
  figure.add(CurvePlot{compiled, {"DTPR", Axis::shares}, {mean, tenth}}, asked.title, asked.device,
             "", "What choices are worth among at most 1 to 32 configurations.");
}

std::string with_spread(const selection::Spread& spread) {
  return significant(spread.mean()) +
         (spread.values.size() > 1 ? " \u00B1 " + significant(spread.deviation(), 2) : "");
}

void add_choices(Table& table, const Asked& asked) {
  const auto add = [&](const std::string& choice, const selection::Scores& scores) {
    table.rows.push_back({asked.title, asked.device, choice, percent_text(scores.accuracy.mean()),
                          with_spread(scores.dtpr), with_spread(scores.p10),
                          with_spread(scores.dttr), with_spread(scores.captured)});
  };
  const SplitResults& results = asked.results;
  const selection::TreeLine& best = *results.best_tree();
  add("the best single configuration", results.single);
  add("the best tree, " + selection::tree_name(best.height, best.leaf), best.scores);
  for (std::size_t i = 0; i < results.by_classes.size(); ++i)
    add("ours among " + std::to_string(selection::kClassCounts[i]), results.by_classes[i]);
  add("ours", results.ours);
}

void add_tree_rows(Table& table, const Asked& asked) {
  for (const selection::TreeLine& tree : asked.results.trees)
    table.rows.push_back({asked.title, asked.device, selection::tree_name(tree.height, tree.leaf),
                          percent_text(tree.scores.accuracy.mean()), with_spread(tree.scores.dtpr),
                          with_spread(tree.scores.dttr), significant(tree.leaves.mean()),
                          significant(tree.tree_height.mean())});
}

}  // namespace

Section selection_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  std::vector<Asked> all;
  const std::vector<Sweep> sweeps = sweeps_of(study);
  std::size_t looked = 0;
  for (const Sweep& sweep : sweeps) {
    if (all.size() == kMostSelections || !go_on("selection: " + sweep.kernel)) break;
    ++looked;
    if (auto asked = ask(sweep, options)) all.push_back(std::move(*asked));
  }
  if (all.empty()) return {};
  const Paragraph lead{
      "Where a kernel was measured at several problems, one configuration for all of them is "
      "compared with choosing one by the problem\u2019s size. Learned on 80\u00A0% of the "
      "problems, asked at the others; " +
      counted(options.seeds, "split", "splits") + ", seeds from " + count_text(options.seed) +
      " on." + left_out(looked, sweeps.size(), "pairs of kernel and device are here")};
  Figure trees("trees", "What the 40 published trees are worth", legend_of_shades(1, ""));
  Figure problems("choices", "Problem by problem", legend_of(kChoices));
  Figure classes("classes", "How many configurations have to be compiled",
                 {{"curve s2", false, "mean, and the standard deviation over the splits"},
                  {"curve s4", false, "10th percentile"}});
  Table choice_table("Ways to choose", {"kernel", "device", "choice", ">right", ">DTPR",
                                        ">10th percentile", ">DTTR", ">captured"});
  Table tree_table("All trees",
                   {"kernel", "device", "tree", ">right", ">DTPR", ">DTTR", ">leaves", ">height"},
                   /*is_folded=*/true);
  std::size_t tested = 0;
  for (const Asked& asked : all) {
    for (const bool over_default : {false, true}) add_trees(trees, asked, over_default);
    add_problems(problems, asked);
    add_classes(classes, asked);
    add_choices(choice_table, asked);
    add_tree_rows(tree_table, asked);
    tested += asked.results.tested.size();
  }
  trees.caption =
      "Trees of Cianfriglia et al. 2018 (figures 4 and 5) by height and size of leaves, on "
      "problems that were not learned from. DTPR: mean of the best time over the time of the "
      "choice. DTTR: mean of the default\u2019s time over the time of the choice, here relative to "
      "that of the best everywhere.";
  trees.counts["trees"] = tree_table.rows.size();
  problems.caption =
      "The problems of the first split that were not learned from (Cianfriglia et al. 2018, "
      "figures 6 and 7).";
  problems.counts["problems"] = tested;
  classes.caption =
      "Ours among the configurations that cover the problems learned from best. DTPR as above.";
  classes.counts["points"] = all.size() * std::size(selection::kClassCounts);
  choice_table.caption =
      "Captured: (DTTR \u2212 1) / (DTTR of the best everywhere \u2212 1). The best tree is chosen "
      "on the problems to test with, as published; ours is not.";
  tree_table.caption = "Means over the splits; \u00B1: standard deviation.";
  return {"selection",
          "Does choosing by problem size pay?",
          {lead, trees, problems, classes, choice_table, tree_table}};
}

}  // namespace idletune::report
