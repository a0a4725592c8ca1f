#include "agent/host/lab/selection/selection_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "agent/host/lab/selection/published_tree.hpp"

namespace idletune::selection {

double Spread::mean() const {
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

double Spread::deviation() const {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (const double value : values) sum += (value - mean()) * (value - mean());
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

void Scores::add(const Score& score) {
  accuracy.add(score.accuracy);
  dtpr.add(score.dtpr);
  dttr.add(score.dttr);
  p10.add(score.p10);
  peak.add(score.peak);
  captured.add(score.captured());
}

namespace {

Status add_trees(const Problems& problems, const Split& split, const DefaultRoutine& usual,
                 SplitResults& evaluation) {
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
      if (line.choices.empty()) line.choices = choices;
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
                 std::uint64_t seed, SplitResults& evaluation) {
  evaluation.by_classes.resize(std::size(kClassCounts));
  for (std::size_t i = 0; i < std::size(kClassCounts); ++i) {
    ForestRecipe recipe = evaluation.recipes.back();
    recipe.methods = kClassCounts[i];
    const auto choices = forest_choices(problems, split, recipe, seed);
    evaluation.by_classes[i].add(score(problems, split.test, choices, usual));
  }
}

// Of everything that is to be learned from and all the rest, or of a share drawn by `seed`.
Split split_for(const Problems& problems, const EvaluationOptions& options, std::uint64_t seed) {
  if (problems.seen >= problems.count()) return split_of(problems, options.share, seed);
  Split split;
  for (std::size_t p = 0; p < problems.count(); ++p) {
    (p < problems.seen ? split.training : split.test).push_back(p);
  }
  return split;
}

Status add_split(const Problems& problems, const EvaluationOptions& options, std::uint64_t seed,
                 SplitResults& evaluation) {
  const Split split = split_for(problems, options, seed);
  if (split.training.empty() || split.test.empty()) {
    return Status(StatusCode::invalid_argument,
                  "too few problems: expected some to learn from and some to test with");
  }
  const DefaultRoutine usual = default_routine(problems, split.training);
  if (evaluation.recipes.empty()) {
    evaluation.usual = usual;
    evaluation.tested = split.test;
  }
  evaluation.recipes.push_back(choose_forest(problems, split.training, seed));
  if (options.trees) {
    if (Status status = add_trees(problems, split, usual, evaluation); !status.ok()) return status;
    add_classes(problems, split, usual, seed, evaluation);
  }
  std::vector<std::size_t> choices =
      forest_choices(problems, split, evaluation.recipes.back(), seed);
  evaluation.ours.add(score(problems, split.test, choices, usual));
  if (evaluation.choices.empty()) evaluation.choices = choices;
  choices.assign(split.test.size(), best_single(problems, split.training));
  evaluation.single.add(score(problems, split.test, choices, usual));
  return {};
}

}  // namespace

const TreeLine* SplitResults::best_tree() const {
  const auto best =
      std::max_element(trees.begin(), trees.end(), [](const TreeLine& a, const TreeLine& b) {
        return a.scores.dttr.mean() < b.scores.dttr.mean();
      });
  return best == trees.end() ? nullptr : &*best;
}

Result<SplitResults> evaluate(const Problems& problems, const EvaluationOptions& options,
                              const std::function<bool(const SplitResults&)>& go_on) {
  SplitResults evaluation;
  for (std::size_t s = 0; s < options.splits; ++s) {
    Status status = add_split(problems, options, options.seed + s, evaluation);
    if (!status.ok()) return status;
    if (go_on && s + 1 < options.splits && !go_on(evaluation)) break;
  }
  return evaluation;
}

}  // namespace idletune::selection
