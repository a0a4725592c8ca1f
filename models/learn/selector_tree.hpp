// Growing a selector's tree and choosing what it is grown with. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/forest/tree_node.hpp"
#include "models/forest/tree_trainer.hpp"
#include "models/learn/selector_problem.hpp"
#include "models/learn/shape_selector.hpp"

namespace idletune::selector {

// What a tree is grown with.
struct Recipe {
  std::size_t height = learners::kMaxTreeHeight;
  double leaf = 1;
  bool derived = false;
};

// A tree with its classes: numbers of candidates.
struct Grown {
  std::vector<std::size_t> classes;
  std::vector<learners::TreeNode> nodes;
  std::vector<std::int8_t> exponents;

  // The candidate for a shape.
  std::size_t choose(const std::vector<double>& shape) const;
};

// Greedily the configurations that cover the rows best; the first one is the best single one.
// At most `most` numbers of candidates.
std::vector<std::size_t> choose_classes(const Lesson& problem, const Rows& rows, std::size_t most);
// The position among `classes` of the one that does best at the row.
std::size_t best_class(const Lesson& problem, std::size_t row,
                       const std::vector<std::size_t>& classes);

Grown grow(const Lesson& problem, const Rows& rows, const std::vector<std::size_t>& classes,
           const Recipe& recipe);

// Which fold each of `count` rows is in.
std::vector<std::size_t> folds_of(std::size_t count, std::size_t folds);

// The recipe whose trees do best on rows left out, among those that the options allow.
Recipe choose_recipe(const Lesson& problem, const Rows& rows,
                     const std::vector<std::size_t>& classes, const SelectorOptions& options);

}  // namespace idletune::selector
