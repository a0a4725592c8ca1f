// idletune lab select H...: how well a method is chosen by problem size, at problems that were not
// learned from.

#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/lab/selection/layer_methods.hpp"
#include "agent/host/lab/selection/published_scores.hpp"
#include "agent/host/lab/selection/published_tree.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/lab/verbs/retrained_selection.hpp"
#include "agent/retraining/measured_rows.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

using namespace selection;

struct SelectArguments {
  std::vector<std::string> histories;
  std::vector<std::string> unseen;
  std::vector<std::string> from;
  std::size_t measured = 8;
  std::string layers;
  std::string layer_shapes;
  bool emulated = false;
  EvaluationOptions options;
};

// --- answers ---

json scores_json(const Scores& scores) {
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

json tree_json(const TreeLine& line, const Problems& problems) {
  json object = scores_json(line.scores);
  object["name"] = tree_name(line.height, line.leaf);
  object["height"] = or_null(line.height > 0, line.height);
  object["leaf"] = line.leaf;
  object["leaves"] = line.leaves.mean();
  object["tree_height"] = line.tree_height.mean();
  for (std::size_t m = 0; m < line.classes.size(); ++m) {
    object["classes"][problems.members[m]] = line.classes[m].mean();
  }
  return object;
}

std::string sizes_text(const Problems& problems, std::size_t problem) {
  return listed(problems.sizes[problem], "x",
                [](double size) { return std::to_string(static_cast<long long>(size)); });
}

json evaluation_json(const Problems& problems, const SplitResults& evaluation,
                     const SelectArguments& arguments) {
  json object = {
      {"dataset", problems.dataset},
      {"device", problems.device},
      {"problems", problems.count()},
      {"methods", problems.methods()},
      {"tested", evaluation.tested.size()},
      {"split", arguments.options.share},
      {"splits", arguments.options.splits},
      {"seed", arguments.options.seed},
      {"models",
       list_of(evaluation.trees, [&](const TreeLine& line) { return tree_json(line, problems); })},
      {"best", nullptr},
      {"ours", scores_json(evaluation.ours)},
      {"single", scores_json(evaluation.single)},
      {"peak_dttr", evaluation.ours.peak.mean()},
      {"peak_dttr_spread", evaluation.ours.peak.deviation()}};
  if (const TreeLine* best = evaluation.best_tree()) object["best"] = tree_json(*best, problems);
  for (std::size_t i = 0; i < evaluation.by_classes.size(); ++i) {
    json entry = scores_json(evaluation.by_classes[i]);
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

std::string with_spread(const Spread& spread) {
  if (spread.values.size() < 2) return format_number(spread.mean(), 3);
  return format_number(spread.mean(), 3) + " ± " + format_number(spread.deviation(), 3);
}

std::vector<std::string> row_of(const std::string& name, const Scores& scores) {
  return {name, with_spread(scores.dtpr), with_spread(scores.p10), with_spread(scores.dttr),
          with_spread(scores.captured)};
}

void print_trees(const Problems& problems, const SplitResults& evaluation, CliContext& context) {
  std::vector<std::string> columns{"tree", ">right", ">DTPR", ">DTTR", ">leaves", ">high"};
  for (const std::string& member : problems.members) columns.push_back(">" + member);
  // Cianfriglia et al. 2018, tables 5 (go2) and 6 (AntonNet): DTPR and DTTR.
  columns.push_back(">P100, go2");
  columns.push_back(">Mali, nets");
  TextTable table(columns);
  for (const TreeLine& line : evaluation.trees) {
    std::vector<std::string> cells{tree_name(line.height, line.leaf),
                                   format_number(100 * line.scores.accuracy.mean(), 1) + " %",
                                   format_number(line.scores.dtpr.mean(), 3),
                                   format_number(line.scores.dttr.mean(), 3),
                                   format_number(line.leaves.mean(), 0),
                                   format_number(line.tree_height.mean(), 0)};
    for (const Spread& classes : line.classes) cells.push_back(format_number(classes.mean(), 0));
    const auto at = static_cast<std::size_t>(&line - evaluation.trees.data());
    for (const PublishedScore& theirs : {kPublishedGo2[at], kPublishedAntonNet[at]}) {
      cells.push_back(format_number(theirs.dtpr, 3) + " " + format_number(theirs.dttr, 3));
    }
    table.add_row(std::move(cells));
  }
  context.print(table);
  context.print_paragraph(
      "As printed there, the DTPR of h2 on go2 stand a row too low from L2 on (0.606, at L0.4, is "
      "L0.3's), and 0.846 of hMax-L1 on AntonNet does not go with its DTTR.");
}

void print_evaluation(const Problems& problems, const SplitResults& evaluation,
                      const SelectArguments& arguments, CliContext& context) {
  context.print_paragraph(
      problems.dataset + " on " + problems.device + ": " + std::to_string(problems.count()) +
      " problems, " + std::to_string(problems.methods()) + " methods, " +
      std::to_string(evaluation.tested.size()) + " problems to test with, " +
      std::to_string(arguments.options.splits) +
      (arguments.options.splits == 1 ? " split" : " splits, means ± standard deviation"));
  context.print_paragraph(
      "The default: tuned at " + sizes_text(problems, evaluation.usual.small_at) + " and at " +
      sizes_text(problems, evaluation.usual.large_at) + ". Choosing the best everywhere: DTTR " +
      with_spread(evaluation.ours.peak) + ".");
  if (arguments.options.trees) print_trees(problems, evaluation, context);
  TextTable table({"choice", ">DTPR", ">10th percentile", ">DTTR", ">captured"});
  const auto add = [&table](const std::string& name, const Scores& scores) {
    table.add_row(row_of(name, scores));
  };
  add("the best single method", evaluation.single);
  if (const TreeLine* best = evaluation.best_tree()) {
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
    auto histories = must(load_histories(arguments.histories, arguments.emulated));
    if (arguments.unseen.empty()) return problems_of({histories.data(), histories.size()});
    auto unseen = must(load_histories(arguments.unseen, arguments.emulated));
    const std::size_t seen = histories.size();
    for (History& history : unseen) {
      if (seen > 0 && history.device != histories[0].device) {
        return Status(StatusCode::invalid_argument, "--unseen: it was measured on %; expected %",
                      history.device, histories[0].device);
      }
      histories.push_back(std::move(history));
    }
    auto problems = problems_of({histories.data(), histories.size()}, seen);
    if (problems.ok() && problems->seen >= problems->count()) {
      return Status(StatusCode::invalid_argument,
                    "--unseen: all its problems are among those learned from; expected others");
    }
    return problems;
  }
  const auto times = must(read_file(arguments.layers, kMaxTableBytes));
  const auto shapes = must(read_file(arguments.layer_shapes, kMaxTableBytes));
  return offload::layer_methods(times, arguments.layers, shapes, arguments.layer_shapes);
}

// With --from: the answer about a board that begins with another device's tree.
void run_from(const SelectArguments& arguments, const Problems& here, CliContext& context) {
  auto histories = must(load_histories(arguments.from, arguments.emulated));
  const auto there = must(problems_of({histories.data(), histories.size()}));
  warn_unfit(there.unfit, context);
  if (there.inputs != here.inputs) {
    return context.fail("--from: its problems have other sizes; expected those of " + here.dataset);
  }
  if (std::max(here.count(), there.count()) > detail::kMaxRows) {
    context.warn("trees grow from the first " + std::to_string(detail::kMaxRows) +
                 " problems, as on boards");
  }
  const RetrainedScores scores =
      retrained_selection(here, there, arguments.measured, arguments.options);
  const bool complete = scores.splits == arguments.options.splits;
  if (!complete) context.stopped(kStoppedEarly);
  if (context.json()) {
    return context.print_json({{"dataset", here.dataset},
                               {"device", here.device},
                               {"from", there.device},
                               {"measured", arguments.measured},
                               {"splits", scores.splits},
                               {"complete", complete},
                               {"replaced", scores.replaced},
                               {"before", scores_json(scores.before)},
                               {"after", scores_json(scores.after)},
                               {"native", scores_json(scores.native)}});
  }
  context.print_paragraph(here.dataset + " on " + here.device + ", beginning with a tree of " +
                          there.device + ": replaced in " + std::to_string(scores.replaced) +
                          " of " + std::to_string(scores.splits) + " splits");
  TextTable table({"tree", ">DTPR", ">10th percentile", ">DTTR", ">captured"});
  table.add_row(row_of("the other device's", scores.before));
  table.add_row(
      row_of("after " + std::to_string(arguments.measured) + " measurements each", scores.after));
  table.add_row(row_of("of all measurements", scores.native));
  context.print(table);
}

void answer(const Problems& problems, const SplitResults& evaluation, SelectArguments arguments,
            CliContext& context) {
  const std::size_t wanted =
      std::exchange(arguments.options.splits, evaluation.ours.dtpr.values.size());
  if (!context.json()) return print_evaluation(problems, evaluation, arguments, context);
  json object = evaluation_json(problems, evaluation, arguments);
  object["complete"] = arguments.options.splits == wanted;
  context.print_json(object);
}

void run_select(const SelectArguments& arguments, CliContext& context) {
  if (arguments.histories.empty() == arguments.layers.empty()) {
    return context.used_wrongly("expected histories, or --layers");
  }
  const auto problems = must(read_problems(arguments));
  warn_unfit(problems.unfit, context);
  if (!arguments.from.empty()) return run_from(arguments, problems, context);
  const auto shared = std::make_shared<const Problems>(problems);
  const auto go_on = [&](const SplitResults& so_far) {
    context.keep_part([=, &context] { answer(*shared, so_far, arguments, context); });
    return !interrupted();
  };
  answer(problems, must(evaluate(problems, arguments.options, go_on)), arguments, context);
  if (interrupted()) context.stopped(kStoppedEarly);
}

}  // namespace

void add_lab_select_verb(Verb& lab, CliContext& context) {
  auto arguments = std::make_shared<SelectArguments>();
  Verb verb = lab.add_verb(
      "select", "tells how well configurations are chosen by problem size, on sizes left out");
  verb.option("histories", arguments->histories,
              "Histories of one kernel on one device at many problems (explore --shapes)");
  const Argument unseen =
      verb.option(
              "--unseen HISTORY", arguments->unseen,
              "Learn from all of those, and ask at the problems of this history. May be repeated")
          .one_at_a_time();
  const Argument from = verb.option("--from HISTORY", arguments->from,
                                    "Instead: play a board that begins with a tree of this "
                                    "history's device and learns its own. May be repeated")
                            .one_at_a_time()
                            .excludes(unseen);
  verb.option("--measured", arguments->measured,
              "Configurations that such a board tries at each problem")
      .between(1, 1000)
      .needs(from);
  const Argument layers =
      verb.option("--layers FILE", arguments->layers,
                  "Instead: times of networks' layers by library, as Caffe prints them (CSV)")
          .excludes(unseen)
          .excludes(from);
  const Argument layer_shapes =
      verb.option("--layer-shapes FILE", arguments->layer_shapes, "Shapes of those layers (CSV)")
          .needs(layers);
  layers.needs(layer_shapes);
  verb.flag("--sweep", arguments->options.trees,
            "Also the 40 decision trees of Cianfriglia et al. 2018: heights 1, 2, 4, 8 and any, "
            "leaves of 1, 2, 4 rows and of a tenth to half of all")
      .excludes(from);
  verb.option("--split", arguments->options.share, "Share of the problems to learn from")
      .excludes(unseen)
      .between(0.01, 0.99);
  verb.option("--splits", arguments->options.splits,
              "So many splits, with seeds one after the other")
      .between(1, 1000);
  verb.option("--seed", arguments->options.seed, "Of the first split");
  add_emulated(verb, arguments->emulated).excludes(layers);
  verb.example("lab select gemm-shapes.ithistory --sweep --splits 10");
  verb.runs([arguments, &context] { run_select(*arguments, context); });
}

}  // namespace idletune::cli
