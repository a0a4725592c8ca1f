#include "agent/host/lab/selection/published_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>

#include "models/core/random.hpp"
#include "models/forest/tree_trainer.hpp"
#include "models/forest/tree_view.hpp"

namespace idletune::selection {
namespace {

std::vector<float> row_of(const std::vector<double>& sizes) {
  std::vector<float> row;
  row.reserve(sizes.size());
  for (const double size : sizes) row.push_back(static_cast<float>(size));
  return row;
}

}  // namespace

Result<PublishedTree> PublishedTree::learn(const Problems& problems, const Rows& rows,
                                           std::size_t height, double leaf) {
  PublishedTree tree;
  for (const std::size_t p : rows) tree.methods_.push_back(problems.best(p));
  std::sort(tree.methods_.begin(), tree.methods_.end());
  tree.methods_.erase(std::unique(tree.methods_.begin(), tree.methods_.end()), tree.methods_.end());
  std::vector<float> values;
  std::vector<float> targets;
  for (const std::size_t p : rows) {
    const std::vector<float> row = row_of(problems.sizes[p]);
    values.insert(values.end(), row.begin(), row.end());
    const auto found =
        std::lower_bound(tree.methods_.begin(), tree.methods_.end(), problems.best(p));
    targets.push_back(static_cast<float>(found - tree.methods_.begin()));
  }
  learners::Dataset data;
  data.values = {values.data(), values.size()};
  data.columns = problems.inputs.size();
  data.targets = {targets.data(), targets.size()};
  data.classes = static_cast<std::uint32_t>(tree.methods_.size());
  const auto coded = learners::CodedTable::build(data);
  if (!coded.ok()) return coded.status();
  learners::TreeOptions options;
  if (height > 0) options.height = height;
  if (leaf >= 1) {
    options.leaf_rows = static_cast<std::size_t>(leaf);
  } else {
    options.leaf_share = leaf;
  }
  learners::TreeTrainer trainer(*coded, options);
  const std::vector<std::uint16_t> weights(rows.size(), 1);
  Random random(1);
  Status grown = trainer.grow({weights.data(), weights.size()}, random, tree.nodes_);
  if (!grown.ok()) return grown;
  return tree;
}

std::size_t PublishedTree::choose(const std::vector<double>& sizes) const {
  const std::vector<float> row = row_of(sizes);
  const learners::TreeView view({nodes_.data(), nodes_.size()});
  return methods_[view.leaf({row.data(), row.size()}).class_number()];
}

std::size_t PublishedTree::leaves() const {
  return learners::TreeView({nodes_.data(), nodes_.size()}).leaf_count();
}

std::size_t PublishedTree::height() const {
  return learners::TreeView({nodes_.data(), nodes_.size()}).height();
}

std::vector<std::size_t> PublishedTree::classes(const Problems& problems) const {
  std::set<std::size_t> named;
  for (const learners::TreeNode& node : nodes_) {
    if (node.is_leaf()) named.insert(methods_[node.class_number()]);
  }
  std::vector<std::size_t> counts(problems.members.size(), 0);
  for (const std::size_t method : named) ++counts[problems.member[method]];
  return counts;
}

std::string tree_name(std::size_t height, double leaf) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", leaf);
  return "h" + (height == 0 ? std::string("Max") : std::to_string(height)) + "-L" + text;
}

}  // namespace idletune::selection
