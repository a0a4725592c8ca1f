// idletune select H...: how well a method is chosen by problem size, at problems that were not
// learned from.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/histories.hpp"
#include "agent/cli/verbs.hpp"
#include "models/learn/published_scores.hpp"
#include "models/learn/published_tree.hpp"
#include "models/learn/quality_forest.hpp"
#include "models/learn/selection.hpp"
#include "models/offload/layer_methods.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

using namespace selection;

struct SelectArguments {
  std::vector<std::string> histories;
  std::vector<std::string> unseen;
  std::string layers;
  std::string layer_shapes;
  bool sweep = false;
  double share = 0.8;
  std::uint64_t seed = 1;
  std::size_t splits = 1;
};

// What several splits came to.
struct Spread {
  std::vector<double> values;
  void add(double value) { values.push_back(value); }
  double mean() const {
    return values.empty() ? 0
                          : std::accumulate(values.begin(), values.end(), 0.0) /
                                static_cast<double>(values.size());
  }
  double deviation() const {
    if (values.size() < 2) return 0;
    double sum = 0;
    for (const double value : values) sum += (value - mean()) * (value - mean());
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
  }
};

struct Scores {
  Spread accuracy, dtpr, dttr, p10, peak, captured;
  void add(const Score& score) {
    accuracy.add(score.accuracy);
    dtpr.add(score.dtpr);
    dttr.add(score.dttr);
    p10.add(score.p10);
    peak.add(score.peak);
    captured.add(score.captured());
  }
};

struct TreeLine {
  std::size_t height = 0;
  double leaf = 1;
  Scores scores;
  Spread leaves;
  Spread tree_height;
  std::vector<Spread> classes;  // by member
};

// How many configurations are compiled, at most, and what choices among them are worth.
constexpr std::size_t kClassCounts[] = {1, 2, 4, 8, 16, 32};

struct Evaluation {
  std::vector<TreeLine> trees;
  Scores ours, single;
  std::vector<Scores> by_classes;     // in the order of kClassCounts
  std::vector<ForestRecipe> recipes;  // of ours, by split
  DefaultRoutine usual;               // of the first split
  std::size_t tested = 0;             // problems, in the first split
};

Status add_trees(const Problems& problems, const Split& split, const DefaultRoutine& usual,
                 Evaluation& evaluation) {
  std::size_t at = 0;
  for (const std::size_t height : kTreeHeights) {
    for (const double leaf : kTreeLeaves) {
      const auto tree = PublishedTree::learn(problems, split.training, height, leaf);
      if (!tree.ok()) return tree.status();
      if (at == evaluation.trees.size()) {
        evaluation.trees.emplace_back();
        evaluation.trees[at].height = height;
        evaluation.trees[at].leaf = leaf;
        evaluation.trees[at].classes.resize(problems.members.size());
      }
      TreeLine& line = evaluation.trees[at++];
      std::vector<std::size_t> choices;
      for (const std::size_t p : split.test) choices.push_back(tree->choose(problems.sizes[p]));
      line.scores.add(score(problems, split.test, choices, usual));
      line.leaves.add(static_cast<double>(tree->leaves()));
      line.tree_height.add(static_cast<double>(tree->height()));
      const std::vector<std::size_t> classes = tree->classes(problems);
      for (std::size_t m = 0; m < classes.size(); ++m) {
        line.classes[m].add(static_cast<double>(classes[m]));
      }
    }
  }
  return {};
}

// The method that does best on average over the rows.
std::size_t best_single(const Problems& problems, const Rows& rows) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t m = 0; m < problems.methods(); ++m) {
    double sum = 0;
    for (const std::size_t p : rows) sum += problems.quality(p, m);
    if (sum <= most) continue;
    most = sum;
    best = m;
  }
  return best;
}

std::vector<std::size_t> forest_choices(const Problems& problems, const Split& split,
                                        const ForestRecipe& recipe, std::uint64_t seed) {
  const QualityForest forest(problems, split.training, recipe, seed);
  std::vector<std::size_t> choices;
  for (const std::size_t p : split.test) choices.push_back(forest.choose(problems, p));
  return choices;
}

void add_classes(const Problems& problems, const Split& split, const DefaultRoutine& usual,
                 std::uint64_t seed, Evaluation& evaluation) {
  evaluation.by_classes.resize(std::size(kClassCounts));
  for (std::size_t i = 0; i < std::size(kClassCounts); ++i) {
    ForestRecipe recipe = evaluation.recipes.back();
    recipe.methods = kClassCounts[i];
    const auto choices = forest_choices(problems, split, recipe, seed);
    evaluation.by_classes[i].add(score(problems, split.test, choices, usual));
  }
}

// Of everything that is to be learned from and all the rest, or of a share drawn by `seed`.
Split split_for(const Problems& problems, const SelectArguments& arguments, std::uint64_t seed) {
  if (arguments.unseen.empty()) return split_of(problems, arguments.share, seed);
  Split split;
  for (std::size_t p = 0; p < problems.count(); ++p) {
    (p < problems.seen ? split.training : split.test).push_back(p);
  }
  return split;
}

Status add_split(const Problems& problems, const SelectArguments& arguments, std::uint64_t seed,
                 Evaluation& evaluation) {
  const Split split = split_for(problems, arguments, seed);
  if (split.training.empty() || split.test.empty()) {
    return Status(StatusCode::invalid_argument,
                  "too few problems: expected some to learn from and some to test with");
  }
  const DefaultRoutine usual = default_routine(problems, split.training);
  if (evaluation.recipes.empty()) {
    evaluation.usual = usual;
    evaluation.tested = split.test.size();
  }
  evaluation.recipes.push_back(choose_forest(problems, split.training, seed));
  if (arguments.sweep) {
    if (Status status = add_trees(problems, split, usual, evaluation); !status.ok()) return status;
    add_classes(problems, split, usual, seed, evaluation);
  }
  std::vector<std::size_t> choices =
      forest_choices(problems, split, evaluation.recipes.back(), seed);
  evaluation.ours.add(score(problems, split.test, choices, usual));
  choices.assign(split.test.size(), best_single(problems, split.training));
  evaluation.single.add(score(problems, split.test, choices, usual));
  return {};
}

Result<Evaluation> evaluate(const Problems& problems, const SelectArguments& arguments) {
  Evaluation evaluation;
  for (std::size_t s = 0; s < arguments.splits; ++s) {
    Status status = add_split(problems, arguments, arguments.seed + s, evaluation);
    if (!status.ok()) return status;
  }
  return evaluation;
}

// --- answers ---

nlohmann::json scores_json(const Scores& scores) {
  return {{"accuracy", scores.accuracy.mean()},
          {"dtpr", scores.dtpr.mean()},
          {"p10", scores.p10.mean()},
          {"dttr", scores.dttr.mean()},
          {"captured", scores.captured.mean()},
          {"spread",
           {{"dtpr", scores.dtpr.deviation()},
            {"p10", scores.p10.deviation()},
            {"dttr", scores.dttr.deviation()},
            {"captured", scores.captured.deviation()}}}};
}

nlohmann::json tree_json(const TreeLine& line, const Problems& problems) {
  nlohmann::json object = scores_json(line.scores);
  object["name"] = tree_name(line.height, line.leaf);
  object["height"] = line.height > 0 ? nlohmann::json(line.height) : nlohmann::json(nullptr);
  object["leaf"] = line.leaf;
  object["leaves"] = line.leaves.mean();
  object["tree_height"] = line.tree_height.mean();
  for (std::size_t m = 0; m < line.classes.size(); ++m) {
    object["classes"][problems.members[m]] = line.classes[m].mean();
  }
  return object;
}

const TreeLine* best_tree(const Evaluation& evaluation) {
  const auto best = std::max_element(evaluation.trees.begin(), evaluation.trees.end(),
                                     [](const TreeLine& a, const TreeLine& b) {
                                       return a.scores.dttr.mean() < b.scores.dttr.mean();
                                     });
  return best == evaluation.trees.end() ? nullptr : &*best;
}

std::string sizes_text(const Problems& problems, std::size_t problem) {
  std::string text;
  for (const double size : problems.sizes[problem]) {
    text += (text.empty() ? "" : "x") + std::to_string(static_cast<long long>(size));
  }
  return text;
}

nlohmann::json evaluation_json(const Problems& problems, const Evaluation& evaluation,
                               const SelectArguments& arguments) {
  nlohmann::json object = {{"dataset", problems.dataset},
                           {"device", problems.device},
                           {"problems", problems.count()},
                           {"methods", problems.methods()},
                           {"tested", evaluation.tested},
                           {"split", arguments.share},
                           {"splits", arguments.splits},
                           {"seed", arguments.seed},
                           {"models", nlohmann::json::array()},
                           {"best", nullptr},
                           {"ours", scores_json(evaluation.ours)},
                           {"single", scores_json(evaluation.single)},
                           {"peak_dttr", evaluation.ours.peak.mean()}};
  for (const TreeLine& line : evaluation.trees) {
    object["models"].push_back(tree_json(line, problems));
  }
  if (const TreeLine* best = best_tree(evaluation)) object["best"] = tree_json(*best, problems);
  for (std::size_t i = 0; i < evaluation.by_classes.size(); ++i) {
    nlohmann::json entry = scores_json(evaluation.by_classes[i]);
    entry["classes"] = kClassCounts[i];
    object["ours"]["by_classes"].push_back(std::move(entry));
  }
  if (!arguments.unseen.empty()) object["unseen"] = problems.count() - problems.seen;
  object["default"] = {{"small_tuned_at", sizes_text(problems, evaluation.usual.small_at)},
                       {"large_tuned_at", sizes_text(problems, evaluation.usual.large_at)},
                       {"threshold", evaluation.usual.threshold}};
  for (const ForestRecipe& recipe : evaluation.recipes) {
    object["ours"]["recipes"].push_back(
        {{"leaf_rows", recipe.leaf_rows}, {"greedy", recipe.greedy}, {"surface", recipe.surface}});
  }
  return object;
}

std::string decimals(double value, int places = 3) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", places, value);
  return text;
}

std::string with_spread(const Spread& spread) {
  if (spread.values.size() < 2) return decimals(spread.mean());
  return decimals(spread.mean()) + " ± " + decimals(spread.deviation());
}

void print_trees(const Problems& problems, const Evaluation& evaluation, CliContext& context) {
  std::vector<TextTable::Column> columns{{"tree"},
                                         {"right", Align::right},
                                         {"DTPR", Align::right},
                                         {"DTTR", Align::right},
                                         {"leaves", Align::right},
                                         {"high", Align::right}};
  for (const std::string& member : problems.members) columns.push_back({member, Align::right});
  // Cianfriglia et al. 2018, tables 5 (go2) and 6 (AntonNet): DTPR and DTTR.
  columns.push_back({"P100, go2", Align::right});
  columns.push_back({"Mali, nets", Align::right});
  TextTable table(columns);
  for (const TreeLine& line : evaluation.trees) {
    std::vector<std::string> cells{
        tree_name(line.height, line.leaf), decimals(100 * line.scores.accuracy.mean(), 1) + " %",
        decimals(line.scores.dtpr.mean()), decimals(line.scores.dttr.mean()),
        decimals(line.leaves.mean(), 0),   decimals(line.tree_height.mean(), 0)};
    for (const Spread& classes : line.classes) cells.push_back(decimals(classes.mean(), 0));
    const auto at = static_cast<std::size_t>(&line - evaluation.trees.data());
    for (const PublishedScore& theirs : {kPublishedGo2[at], kPublishedAntonNet[at]}) {
      cells.push_back(decimals(theirs.dtpr) + " " + decimals(theirs.dttr));
    }
    table.add_row(std::move(cells));
  }
  context.print(table);
}

void print_evaluation(const Problems& problems, const Evaluation& evaluation,
                      const SelectArguments& arguments, CliContext& context) {
  context.print(problems.dataset + " on " + problems.device + ": " +
                std::to_string(problems.count()) + " problems, " +
                std::to_string(problems.methods()) + " methods, " +
                std::to_string(evaluation.tested) + " problems to test with, " +
                std::to_string(arguments.splits) +
                (arguments.splits == 1 ? " split" : " splits, means ± standard deviation"));
  context.print("The default: tuned at " + sizes_text(problems, evaluation.usual.small_at) +
                " and at " + sizes_text(problems, evaluation.usual.large_at) +
                ". Choosing the best everywhere: DTTR " + with_spread(evaluation.ours.peak) + ".");
  if (arguments.sweep) print_trees(problems, evaluation, context);
  TextTable table({{"choice"},
                   {"DTPR", Align::right},
                   {"10th percentile", Align::right},
                   {"DTTR", Align::right},
                   {"captured", Align::right}});
  const auto add = [&table](const std::string& name, const Scores& scores) {
    table.add_row({name, with_spread(scores.dtpr), with_spread(scores.p10),
                   with_spread(scores.dttr), with_spread(scores.captured)});
  };
  add("the best single method", evaluation.single);
  if (const TreeLine* best = best_tree(evaluation)) {
    add("the best tree, " + tree_name(best->height, best->leaf), best->scores);
  }
  for (std::size_t i = 0; i < evaluation.by_classes.size(); ++i) {
    add("ours among " + std::to_string(kClassCounts[i]), evaluation.by_classes[i]);
  }
  add("ours", evaluation.ours);
  context.print(table);
}

Result<Problems> read_problems(const SelectArguments& arguments) {
  constexpr std::size_t kMaxTableBytes = std::size_t{256} << 20;
  if (arguments.layers.empty()) {
    auto histories = load_histories(arguments.histories);
    if (!histories.ok()) return histories.status();
    if (arguments.unseen.empty()) return problems_of({histories->data(), histories->size()});
    auto unseen = load_histories(arguments.unseen);
    if (!unseen.ok()) return unseen.status();
    const std::size_t seen = histories->size();
    for (History& history : *unseen) histories->push_back(std::move(history));
    return problems_of({histories->data(), histories->size()}, seen);
  }
  const auto times = read_file(arguments.layers, kMaxTableBytes);
  if (!times.ok()) return times.status();
  const auto shapes = read_file(arguments.layer_shapes, kMaxTableBytes);
  if (!shapes.ok()) return shapes.status();
  return offload::layer_methods(*times, arguments.layers, *shapes, arguments.layer_shapes);
}

void run_select(const SelectArguments& arguments, CliContext& context) {
  if (arguments.histories.empty() == arguments.layers.empty()) {
    return context.used_wrongly("expected histories, or --layers");
  }
  const Result<Problems> problems = read_problems(arguments);
  if (!problems.ok()) return context.fail(problems.status());
  const Result<Evaluation> evaluation = evaluate(*problems, arguments);
  if (!evaluation.ok()) return context.fail(evaluation.status());
  if (context.json()) {
    return context.print_json(evaluation_json(*problems, *evaluation, arguments));
  }
  print_evaluation(*problems, *evaluation, arguments, context);
}

}  // namespace

void add_select_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<SelectArguments>();
  Verb verb = line.add_verb(
      "select", "tells how well configurations are chosen by problem size, on sizes left out");
  verb.option("histories", arguments->histories,
              "Histories of one kernel on one device at many problems (explore --shapes)");
  verb.option("--unseen", arguments->unseen,
              "Learn from all of those, and ask at the problems of this history. May be repeated")
      .value_name("HISTORY")
      .one_at_a_time();
  const Argument layers =
      verb.option("--layers", arguments->layers,
                  "Instead: times of networks' layers by library, as Caffe prints them (CSV)")
          .value_name("FILE");
  verb.option("--layer-shapes", arguments->layer_shapes, "Shapes of those layers (CSV)")
      .value_name("FILE")
      .needs(layers);
  verb.flag("--sweep", arguments->sweep,
            "Also the 40 decision trees of Cianfriglia et al. 2018: heights 1, 2, 4, 8 and any, "
            "leaves of 1, 2, 4 rows and of a tenth to half of all");
  verb.option("--split", arguments->share, "Share of the problems to learn from")
      .between(0.01, 0.99)
      .shows_default();
  verb.option("--splits", arguments->splits, "So many splits, with seeds one after the other")
      .between(1, 1000)
      .shows_default();
  verb.option("--seed", arguments->seed, "Of the first split").shows_default();
  verb.example("select gemm-shapes.ithistory --sweep --splits 10");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] { run_select(*arguments, context); });
}

}  // namespace idletune::cli
