#include "models/learn/selector_tree.hpp"

#include <algorithm>
#include <map>

#include "models/core/random.hpp"
#include "models/predict/selector.hpp"

namespace idletune::selector {
namespace {

using learners::TreeNode;

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kInnerFolds = 5;
constexpr double kLeastGain = 0.002;    // mean q that a further class must add
constexpr double kSameQuality = 0.001;  // of two trees as good as each other the smaller is taken

// Gives every leaf the class with the best mean over its rows, whatever the majority's label: what
// counts is the time, not the name. Its share becomes that mean.
void relabel(const Lesson& problem, const Rows& rows, const std::vector<std::size_t>& classes,
             const std::vector<float>& values, std::size_t columns, std::vector<TreeNode>& nodes) {
  std::map<std::size_t, Rows> by_leaf;
  const learners::TreeView tree({nodes.data(), nodes.size()});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    by_leaf[tree.leaf_of({values.data() + i * columns, columns})].push_back(rows[i]);
  }
  for (const auto& [leaf, members] : by_leaf) {
    double best = -1;
    std::size_t number = 0;
    double total = 0;
    for (const std::size_t r : members) total += problem.weights[r];
    for (std::size_t k = 0; k < classes.size(); ++k) {
      double sum = 0;
      for (const std::size_t r : members)
        sum += problem.weights[r] * static_cast<double>(problem.q[r][classes[k]]);
      if (sum / total > best + 1e-9) {
        best = sum / total;
        number = k;
      }
    }
    nodes[leaf] = TreeNode::class_leaf(static_cast<std::uint32_t>(number),
                                       std::clamp(best, 0.0, 1.0), members.size());
  }
}

// The subtree at `at` in preorder, splits between leaves of the same class undone.
std::vector<TreeNode> simplified(const std::vector<TreeNode>& nodes, std::size_t at) {
  const TreeNode& node = nodes[at];
  if (node.is_leaf()) return {node};
  const std::vector<TreeNode> left = simplified(nodes, at + 1);
  const std::vector<TreeNode> right = simplified(nodes, at + node.link());
  const bool leaves = left.size() == 1 && right.size() == 1;
  if (leaves && left[0].class_number() == right[0].class_number()) {
    const double l = static_cast<double>(left[0].rows());
    const double r = static_cast<double>(right[0].rows());
    const double mean = (static_cast<double>(left[0].class_share()) * l +
                         static_cast<double>(right[0].class_share()) * r) /
                        std::max(1.0, l + r);
    return {TreeNode::class_leaf(left[0].class_number(), std::clamp(mean, 0.0, 1.0),
                                 left[0].rows() + right[0].rows())};
  }
  std::vector<TreeNode> result{node};
  result[0].set_link(left.size() + 1);
  result.insert(result.end(), left.begin(), left.end());
  result.insert(result.end(), right.begin(), right.end());
  return result;
}

std::vector<Recipe> recipes(const SelectorOptions& options) {
  std::vector<std::size_t> heights{1, 2, 4, 8, learners::kMaxTreeHeight};
  std::vector<double> leaves{1, 2, 4};
  if (options.height > 0) heights = {std::min(options.height, learners::kMaxTreeHeight)};
  if (options.leaf > 0) leaves = {options.leaf};
  std::vector<Recipe> all;
  for (const bool derived : {false, true}) {
    if (derived && !options.derived_features) continue;
    for (const std::size_t height : heights) {
      for (const double leaf : leaves) all.push_back({height, leaf, derived});
    }
  }
  return all;
}

// That many rows at most: they tell one recipe from another as well as all of them.
Rows thinned(const Rows& rows) {
  constexpr std::size_t kEnough = 2000;
  if (rows.size() <= kEnough) return rows;
  Rows some;
  const Permutation shuffled(rows.size(), kSeed);
  for (std::size_t i = 0; i < kEnough; ++i)
    some.push_back(rows[static_cast<std::size_t>(shuffled(i))]);
  std::sort(some.begin(), some.end());
  return some;
}

}  // namespace

std::size_t Grown::choose(const std::vector<double>& shape) const {
  SelectorView view;
  view.low = {shape.data(), shape.size()};
  view.exponents = {exponents.data(), exponents.size()};
  view.tree = learners::TreeView({nodes.data(), nodes.size()});
  return classes[view.select({shape.data(), shape.size()}).number];
}

std::vector<std::size_t> choose_classes(const Lesson& problem, const Rows& all_rows,
                                        std::size_t most) {
  const Rows rows = thinned(all_rows);
  std::vector<double> covered(rows.size(), 0.0);
  std::vector<std::size_t> classes;
  double total = 0;
  for (const std::size_t r : rows) total += problem.weights[r];
  while (classes.size() < most) {
    double best_gain = 0;
    std::size_t best = 0;
    for (std::size_t c = 0; c < problem.candidates.size(); ++c) {
      double gain = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double q = static_cast<double>(problem.q[rows[i]][c]);
        if (q > covered[i]) gain += problem.weights[rows[i]] * (q - covered[i]);
      }
      if (gain > best_gain) {
        best_gain = gain;
        best = c;
      }
    }
    if (best_gain < kLeastGain * total && !classes.empty()) break;
    if (best_gain <= 0) break;
    classes.push_back(best);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      covered[i] = std::max(covered[i], static_cast<double>(problem.q[rows[i]][best]));
    }
  }
  if (classes.empty()) classes.push_back(0);
  return classes;
}

std::size_t best_class(const Lesson& problem, std::size_t row,
                       const std::vector<std::size_t>& classes) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < classes.size(); ++k) {
    if (problem.q[row][classes[k]] > problem.q[row][classes[best]]) best = k;
  }
  return best;
}

Grown grow(const Lesson& problem, const Rows& rows, const std::vector<std::size_t>& classes,
           const Recipe& recipe) {
  Grown grown;
  grown.classes = classes;
  grown.exponents = recipe.derived ? problem.derived : problem.plain;
  const std::size_t columns = grown.exponents.size() / problem.inputs;
  std::vector<float> values;
  std::vector<float> targets;
  for (const std::size_t r : rows) {
    const std::vector<double>& shape = problem.shapes[r];
    for (std::size_t f = 0; f < columns; ++f) {
      values.push_back(selector_feature(grown.exponents.data() + f * problem.inputs, shape.data(),
                                        shape.size()));
    }
    targets.push_back(static_cast<float>(best_class(problem, r, classes)));
  }
  learners::Dataset data;
  data.values = {values.data(), values.size()};
  data.columns = columns;
  data.targets = {targets.data(), targets.size()};
  data.classes = static_cast<std::uint32_t>(classes.size());
  grown.nodes = {TreeNode::class_leaf(0, 0, 0)};
  const auto coded = learners::CodedTable::build(data);
  if (coded.ok()) {
    learners::TreeOptions options;
    options.height = recipe.height;
    if (recipe.leaf >= 1) options.leaf_rows = static_cast<std::size_t>(recipe.leaf);
    if (recipe.leaf < 1) options.leaf_share = recipe.leaf;
    learners::TreeTrainer trainer(*coded, options);
    const std::vector<std::uint16_t> weights(rows.size(), 1);
    Random random(kSeed);
    std::vector<TreeNode> nodes;
    if (trainer.grow({weights.data(), weights.size()}, random, nodes).ok()) grown.nodes = nodes;
  }
  relabel(problem, rows, classes, values, columns, grown.nodes);
  grown.nodes = simplified(grown.nodes, 0);
  return grown;
}

std::vector<std::size_t> folds_of(std::size_t count, std::size_t folds) {
  std::vector<std::size_t> fold(count);
  const Permutation shuffled(count, kSeed);
  for (std::size_t i = 0; i < count; ++i) fold[static_cast<std::size_t>(shuffled(i))] = i % folds;
  return fold;
}

Recipe choose_recipe(const Lesson& problem, const Rows& all_rows,
                     const std::vector<std::size_t>& classes, const SelectorOptions& options) {
  const Rows rows = thinned(all_rows);
  const std::vector<Recipe> all = recipes(options);
  const std::size_t folds = std::min(kInnerFolds, rows.size());
  if (all.size() == 1 || folds < 2) return all.front();
  const std::vector<std::size_t> fold = folds_of(rows.size(), folds);
  Recipe chosen = all.front();
  double best = -1;
  std::size_t best_nodes = 0;
  for (const Recipe& recipe : all) {
    double sum = 0;
    std::size_t nodes = 0;
    for (std::size_t f = 0; f < folds; ++f) {
      Rows inside;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (fold[i] != f) inside.push_back(rows[i]);
      }
      const Grown grown = grow(problem, inside, classes, recipe);
      nodes += grown.nodes.size();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (fold[i] != f) continue;
        sum += static_cast<double>(problem.q[rows[i]][grown.choose(problem.shapes[rows[i]])]);
      }
    }
    const double mean = sum / static_cast<double>(rows.size());
    if (mean > best + kSameQuality || (mean > best - kSameQuality && nodes < best_nodes)) {
      best = std::max(best, mean);
      best_nodes = nodes;
      chosen = recipe;
    }
  }
  return chosen;
}

}  // namespace idletune::selector
