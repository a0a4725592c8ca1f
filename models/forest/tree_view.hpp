// Predicting from trees where they stand: in a trainer's vector or in a file's bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/forest/tree_node.hpp"

namespace idletune::learners {

struct Prediction {
  float value = 0;   // regression: the target; classification: the class number
  float spread = 0;  // regression: standard deviation of the target around `value` as far as the
                     // learner can tell, in the target's unit; 0: it cannot, or classification
};

// One tree. A view: valid as long as the nodes are. Nodes from outside must pass verify() first.
class TreeView {
 public:
  TreeView() = default;
  explicit TreeView(Span<const TreeNode> nodes) : nodes_(nodes) {}

  bool empty() const { return nodes_.empty(); }
  Span<const TreeNode> nodes() const { return nodes_; }
  // The number of the leaf that the row ends in. The tree must not be empty.
  std::size_t leaf_of(Span<const float> row) const {
    const TreeNode* nodes = nodes_.data();
    std::size_t at = 0;
    while (!nodes[at].is_leaf()) {
      at += nodes[at].goes_left(row[nodes[at].feature()]) ? 1 : nodes[at].link();
    }
    return at;
  }
  const TreeNode& leaf(Span<const float> row) const { return nodes_[leaf_of(row)]; }
  std::size_t leaf_count() const;
  std::size_t height() const;  // splits on the longest path; 0 for a lone leaf

 private:
  Span<const TreeNode> nodes_;
};

// What trees must fit to: the shape of the data they were, or claim to have been, learned from.
struct TreeShape {
  std::size_t columns = 0;
  std::uint32_t classes = 0;  // 0: regression
};

// Whether a tree is safe and meaningful to predict from: preorder without gaps or overlaps,
// children after their parents and in range, at most kMaxTreeHeight splits on a path, features and
// classes in range, thresholds, values and spreads finite. Linear in the nodes, no allocation.
// Errors: corrupt, naming the node.
Status verify(Span<const TreeNode> nodes, const TreeShape& shape);

// What a classification leaf adds to its class: its share less the part of the rest that every
// other class gets. Classes are compared by the sums of this over trees.
inline double vote_of(const TreeNode& leaf, std::uint32_t classes) {
  const double share = static_cast<double>(leaf.class_share());
  return classes > 1 ? share - (1 - share) / (classes - 1) : share;
}

// The nodes that bytes of a file hold, read where they stand; verify() comes next. Errors: corrupt
// if the bytes are no whole number of nodes or do not start at a multiple of 4.
Result<Span<const TreeNode>> tree_nodes_in(Bytes bytes);

// Trees whose predictions are averaged. A view.
struct ForestView {
  Span<const TreeNode> nodes;  // of all trees, one after the other
  Span<const std::uint32_t>
      starts;  // tree count + 1 entries: tree i is nodes [starts[i], starts[i + 1])
  TreeShape shape;

  std::size_t tree_count() const { return starts.empty() ? 0 : starts.size() - 1; }
  TreeView tree(std::size_t i) const {
    return TreeView(nodes.subspan(starts[i], starts[i + 1] - starts[i]));
  }
  // Regression: the mean of the trees' leaves; spread from the law of total variance, mean of the
  // leaves' variances plus variance of their means (Hutter et al. 2014,
  // section 4.3.2). Classification: the class with the largest mean share over the trees, where a
  // leaf gives its class its share and all other classes the same part of the rest; the lowest
  // class among equals. A row of another length than shape.columns, or a forest without
  // trees, answers 0.
  Prediction predict(Span<const float> row) const;
};

}  // namespace idletune::learners
