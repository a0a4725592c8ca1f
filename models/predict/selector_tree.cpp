#include "models/predict/selector_tree.hpp"

#include <algorithm>
#include <cmath>

#include "models/core/random.hpp"
#include "models/predict/model_format.hpp"
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
  const learners::TreeView tree({nodes.data(), nodes.size()});
  std::vector<std::size_t> leaf_of_row;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    leaf_of_row.push_back(tree.leaf_of({values.data() + i * columns, columns}));
  }
  for (std::size_t leaf = 0; leaf < nodes.size(); ++leaf) {
    if (!nodes[leaf].is_leaf()) continue;
    Rows members;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (leaf_of_row[i] == leaf) members.push_back(rows[i]);
    }
    if (members.empty()) continue;
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

// That many rows at most: they tell one recipe from another as well as all of them.
Rows thinned(const Rows& rows) {
  constexpr std::size_t kEnough = 2000;  // to choose a tree's limits; all rows grow the tree
  if (rows.size() <= kEnough) return rows;
  Rows some;
  const Permutation shuffled(rows.size(), kSeed);
  for (std::size_t i = 0; i < kEnough; ++i)
    some.push_back(rows[static_cast<std::size_t>(shuffled(i))]);
  std::sort(some.begin(), some.end());
  return some;
}

std::vector<std::int8_t> plain_features(std::size_t inputs) {
  std::vector<std::int8_t> exponents(inputs * inputs, 0);
  for (std::size_t i = 0; i < inputs; ++i) exponents[i * inputs + i] = 1;
  return exponents;
}

// The inputs, the products of two and of all, and the ratios of two.
std::vector<std::int8_t> derived_features(std::size_t inputs) {
  std::vector<std::int8_t> exponents = plain_features(inputs);
  const auto add = [&](std::size_t a, int sign, std::size_t b) {
    std::vector<std::int8_t> feature(inputs, 0);
    feature[a] = 1;
    feature[b] = static_cast<std::int8_t>(sign);
    exponents.insert(exponents.end(), feature.begin(), feature.end());
  };
  for (std::size_t a = 0; a < inputs; ++a) {
    for (std::size_t b = a + 1; b < inputs; ++b) {
      add(a, 1, b);
      add(a, -1, b);
    }
  }
  if (inputs > 2) exponents.insert(exponents.end(), inputs, 1);
  const std::size_t most = model_schema::kMaxSelectorFeatures * inputs;
  if (exponents.size() > most) exponents.resize(most);
  return exponents;
}

// Drops features that are not finite somewhere (a ratio to 0).
std::vector<std::int8_t> usable(const std::vector<std::int8_t>& exponents, const Lesson& problem) {
  std::vector<std::int8_t> kept;
  for (std::size_t f = 0; f + problem.inputs <= exponents.size(); f += problem.inputs) {
    const bool finite = std::all_of(
        problem.shapes.begin(), problem.shapes.end(), [&](const std::vector<double>& shape) {
          return std::isfinite(selector_feature(exponents.data() + f, shape.data(), shape.size()));
        });
    if (finite) {
      kept.insert(kept.end(), exponents.begin() + static_cast<std::ptrdiff_t>(f),
                  exponents.begin() + static_cast<std::ptrdiff_t>(f + problem.inputs));
    }
  }
  return kept;
}

}  // namespace

void set_features(Lesson& problem) {
  problem.plain = usable(plain_features(problem.inputs), problem);
  problem.derived = usable(derived_features(problem.inputs), problem);
}

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
                     const std::vector<std::size_t>& classes, Span<const Recipe> recipes) {
  const Rows rows = thinned(all_rows);
  const std::size_t folds = std::min(kInnerFolds, rows.size());
  if (recipes.size() == 1 || folds < 2) return recipes[0];
  const std::vector<std::size_t> fold = folds_of(rows.size(), folds);
  double total = 0;
  for (const std::size_t r : rows) total += problem.weights[r];
  Recipe chosen = recipes[0];
  double best = -1;
  std::size_t best_nodes = 0;
  for (const Recipe& recipe : recipes) {
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
        const std::size_t choice = grown.choose(problem.shapes[rows[i]]);
        sum += problem.weights[rows[i]] * static_cast<double>(problem.q[rows[i]][choice]);
      }
    }
    const double mean = sum / total;
    if (mean > best + kSameQuality || (mean > best - kSameQuality && nodes < best_nodes)) {
      best = std::max(best, mean);
      best_nodes = nodes;
      chosen = recipe;
    }
  }
  return chosen;
}

}  // namespace idletune::selector
