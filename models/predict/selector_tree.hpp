// Growing a selector's tree and choosing what it is grown with. Deterministic; memory in proportion
// to rows times candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/span.hpp>

#include "models/forest/tree_node.hpp"
#include "models/forest/tree_trainer.hpp"

namespace idletune::selector {

using Rows = std::vector<std::size_t>;

// What a selector is learned from: shapes, candidates and how well they do there. Row r is a shape
// on a device; q is by row and candidate.
struct Lesson {
  std::size_t inputs = 0;
  std::vector<std::vector<double>> shapes;
  std::vector<double> weights;
  std::vector<std::size_t> devices;     // a number per row
  std::vector<std::size_t> candidates;  // configurations that may become classes
  std::vector<std::vector<float>> q;    // unmeasured: the row's mean
  std::vector<std::int8_t> plain;       // exponents, features x inputs
  std::vector<std::int8_t> derived;

  std::size_t rows() const { return shapes.size(); }
};

// Sets both lists of features: the inputs; and with them the products of two and of all, and the
// ratios of two. What is not finite at some shape is left out.
void set_features(Lesson& problem);

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

// The one of the recipes (at least one) whose trees do best on rows left out.
Recipe choose_recipe(const Lesson& problem, const Rows& rows,
                     const std::vector<std::size_t>& classes, Span<const Recipe> recipes);

}  // namespace idletune::selector
