#include "models/forest/tree_view.hpp"

#include <cmath>

namespace idletune::learners {
namespace {

// Walks a preorder sequence: which right children are still to come, and how deep the walk is.
class PreorderWalk {
 public:
  std::size_t depth() const { return depth_; }
  bool finished() const { return finished_; }
  // False if the path gets too long.
  bool enter_split(std::size_t right) {
    if (depth_ == kMaxTreeHeight) return false;
    pending_[count_++] = {right, depth_ + 1};
    ++depth_;
    return true;
  }
  // After a leaf: the number of the node that must come next; undefined once finished.
  std::size_t leave_leaf() {
    if (count_ == 0) {
      finished_ = true;
      return 0;
    }
    --count_;
    depth_ = pending_[count_].depth;
    return pending_[count_].right;
  }

 private:
  struct Pending {
    std::size_t right;
    std::size_t depth;
  };
  Pending pending_[kMaxTreeHeight];
  std::size_t count_ = 0;
  std::size_t depth_ = 0;
  bool finished_ = false;
};

// What is wrong with a node by itself, or null.
const char* problem_in(const TreeNode& node, const TreeShape& shape) {
  if (!node.is_leaf()) {
    if (node.feature() >= shape.columns) return "the feature is out of range";
    if (!node.is_categorical() && !std::isfinite(node.threshold()))
      return "the threshold is not finite";
    return nullptr;
  }
  if (shape.classes != 0) {
    return node.class_number() < shape.classes ? nullptr : "the class is out of range";
  }
  if (!std::isfinite(node.value())) return "the value is not finite";
  if (!std::isfinite(node.spread()) || node.spread() < 0) return "the spread is no finite size";
  return nullptr;
}

Status corrupt(std::size_t node, const char* what) {
  return {StatusCode::corrupt, "tree node %: %", node, what};
}

// A class and the weight that trees give it.
struct Vote {
  std::uint32_t number;
  double weight;
};

std::uint32_t winner(const Vote* votes, std::size_t count) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (votes[i].weight > votes[best].weight ||
        (votes[i].weight == votes[best].weight && votes[i].number < votes[best].number)) {
      best = i;
    }
  }
  return votes[best].number;
}

Prediction vote(const ForestView& forest, Span<const float> row) {
  Vote votes[kMaxTrees];
  std::size_t count = 0;
  for (std::size_t i = 0; i < forest.tree_count() && i < kMaxTrees; ++i) {
    const TreeNode& leaf = forest.tree(i).leaf(row);
    std::size_t at = 0;
    while (at < count && votes[at].number != leaf.class_number()) ++at;
    if (at == count) votes[count++] = {leaf.class_number(), 0};
    votes[at].weight += vote_of(leaf, forest.shape.classes);
  }
  return {static_cast<float>(winner(votes, count)), 0};
}

Prediction average(const ForestView& forest, Span<const float> row) {
  double sum = 0, squares = 0, within = 0;
  for (std::size_t i = 0; i < forest.tree_count(); ++i) {
    const TreeNode& leaf = forest.tree(i).leaf(row);
    const double value = static_cast<double>(leaf.value());
    const double spread = static_cast<double>(leaf.spread());
    sum += value;
    squares += value * value;
    within += spread * spread;
  }
  const double count = static_cast<double>(forest.tree_count());
  const double mean = sum / count;
  const double between = std::fmax(squares / count - mean * mean, 0.0);
  return {static_cast<float>(mean), static_cast<float>(std::sqrt(within / count + between))};
}

}  // namespace

std::size_t TreeView::leaf_count() const {
  // In a binary tree there is one leaf more than there are splits.
  return (nodes_.size() + 1) / 2;
}

std::size_t TreeView::height() const {
  PreorderWalk walk;
  std::size_t height = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].is_leaf()) {
      height = walk.depth() > height ? walk.depth() : height;
      walk.leave_leaf();
    } else if (!walk.enter_split(i + nodes_[i].link())) {
      return kMaxTreeHeight;
    }
  }
  return height;
}

Status verify(Span<const TreeNode> nodes, const TreeShape& shape) {
  if (nodes.empty() || nodes.size() > kMaxTreeNodes) {
    return {StatusCode::corrupt, "a tree of % nodes; expected 1 to %", nodes.size(), kMaxTreeNodes};
  }
  PreorderWalk walk;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (walk.finished()) return corrupt(i, "no split leads here");
    if (const char* problem = problem_in(nodes[i], shape)) return corrupt(i, problem);
    if (nodes[i].is_leaf()) {
      const std::size_t next = walk.leave_leaf();
      if (!walk.finished() && next != i + 1)
        return corrupt(i, "the next node is not the child to come");
    } else {
      if (nodes[i].link() < 2 || nodes[i].link() >= nodes.size() - i) {
        return corrupt(i, "the right child is out of range");
      }
      if (!walk.enter_split(i + nodes[i].link())) return corrupt(i, "the tree is too high");
    }
  }
  if (!walk.finished()) return corrupt(nodes.size() - 1, "a child is missing");
  return {};
}

Result<Span<const TreeNode>> tree_nodes_in(Bytes bytes) {
  if (bytes.size() % sizeof(TreeNode) != 0 ||
      reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(TreeNode) != 0) {
    return {StatusCode::corrupt, "tree nodes: % bytes; expected aligned nodes of 8", bytes.size()};
  }
  return Span<const TreeNode>(reinterpret_cast<const TreeNode*>(bytes.data()),
                              bytes.size() / sizeof(TreeNode));
}

Prediction ForestView::predict(Span<const float> row) const {
  if (tree_count() == 0 || row.size() != shape.columns) return {};
  return shape.classes != 0 ? vote(*this, row) : average(*this, row);
}

}  // namespace idletune::learners
