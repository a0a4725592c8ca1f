#include "models/forest/tree_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace idletune::learners {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::uint64_t kMaxWeight = std::uint64_t{1} << 31;  // sums of products stay below 2^63

}  // namespace

Status check(const TreeOptions& options) {
  if (!(options.leaf_share >= 0 && options.leaf_share <= 1)) {
    return Status(StatusCode::invalid_argument, "tree options: leaf_share must be in [0, 1]");
  }
  return {};
}

TreeTrainer::TreeTrainer(const CodedTable& table, const TreeOptions& options)
    : table_(table), options_(options), search_(table) {
  options_.height = std::min(options_.height, kMaxTreeHeight);
  rows_.reserve(table.rows());
  right_rows_.reserve(table.rows());
  features_.reserve(table.columns());
  class_weights_.resize(table.classes());
  pending_.reserve(kMaxTreeHeight + 1);
}

std::size_t TreeTrainer::bytes_needed(std::size_t rows, std::size_t columns,
                                      std::uint32_t classes) {
  return SplitSearch::bytes_needed(rows, classes) + 2 * rows * sizeof(std::uint32_t) +
         (columns + classes) * sizeof(std::uint32_t) + (kMaxTreeHeight + 1) * sizeof(Pending) +
         sizeof(TreeTrainer);
}

Status TreeTrainer::grow(Span<const std::uint16_t> weights, Random& random,
                         std::vector<TreeNode>& nodes) {
  nodes.clear();
  rows_.clear();
  std::uint64_t weight = 0;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    weight += weights[r];
    if (weights[r] > 0) rows_.push_back(static_cast<std::uint32_t>(r));
  }
  if (weights.size() != table_.rows() || weight == 0 || weight > kMaxWeight) {
    return Status(StatusCode::invalid_argument,
                  "a tree's weights: " + std::to_string(weights.size()) + " of sum " +
                      std::to_string(weight) + "; expected one per row, of a sum up to 2^31");
  }
  const double share = std::ceil(options_.leaf_share * static_cast<double>(rows_.size()));
  leaf_rows_ = std::max({std::size_t{1}, options_.leaf_rows, static_cast<std::size_t>(share)});
  const std::size_t split_rows = std::max(options_.split_rows, 2 * leaf_rows_);

  // Children are taken left before right, so that nodes come out in preorder; the pending ones are
  // at most one right child per level, and the left one.
  pending_.assign(1, {0, static_cast<std::uint32_t>(rows_.size()), kNone, 0});
  while (!pending_.empty()) {
    const Pending at = pending_.back();
    pending_.pop_back();
    const std::size_t node = nodes.size();
    if (node == kMaxTreeNodes) {
      return Status(StatusCode::out_of_memory, "a tree needs more than " +
                                                   std::to_string(kMaxTreeNodes) +
                                                   " nodes; allow larger leaves or less height");
    }
    if (at.parent != kNone) nodes[at.parent].set_link(node - at.parent);
    const Span<const std::uint32_t> rows(rows_.data() + at.begin, at.end - at.begin);
    Split split;
    if (at.depth >= options_.height || rows.size() < split_rows || is_pure(rows) ||
        !find_split(rows, weights, random, split)) {
      nodes.push_back(leaf_of(rows, weights));
      continue;
    }
    nodes.push_back(split.categorical ? TreeNode::categorical_split(split.feature, split.categories)
                                      : TreeNode::numeric_split(split.feature, split.threshold));
    const std::uint32_t middle = partition(at.begin, at.end, split);
    pending_.push_back({middle, at.end, static_cast<std::uint32_t>(node), at.depth + 1});
    pending_.push_back({at.begin, middle, kNone, at.depth + 1});
  }
  return {};
}

bool TreeTrainer::is_pure(Span<const std::uint32_t> rows) const {
  const Span<const std::int32_t> targets = table_.targets();
  for (const std::uint32_t r : rows) {
    if (targets[r] != targets[rows[0]]) return false;
  }
  return true;
}

bool TreeTrainer::find_split(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights,
                             Random& random, Split& split) {
  const std::size_t columns = table_.columns();
  if (options_.candidate_features == 0 || options_.candidate_features >= columns) {
    for (std::size_t f = 0; f < columns; ++f) search_.improve(rows, weights, f, leaf_rows_, split);
    return split.found();
  }
  // Draws without replacement; goes on while all drawn features are constant in this node.
  features_.resize(columns);
  for (std::size_t f = 0; f < columns; ++f) features_[f] = static_cast<std::uint32_t>(f);
  bool varies = false;
  for (std::size_t drawn = 0; drawn < columns; ++drawn) {
    if (drawn >= options_.candidate_features && varies) break;
    const auto ahead = static_cast<std::size_t>(random.below(columns - drawn));
    std::swap(features_[drawn], features_[drawn + ahead]);
    varies |= search_.improve(rows, weights, features_[drawn], leaf_rows_, split);
  }
  return split.found();
}

// Keeps the rows of either side in their order.
std::uint32_t TreeTrainer::partition(std::uint32_t begin, std::uint32_t end, const Split& split) {
  const Span<const std::uint16_t> codes = table_.codes(split.feature);
  const Span<const float> levels = table_.levels(split.feature);
  right_rows_.clear();
  std::uint32_t middle = begin;
  for (std::uint32_t i = begin; i < end; ++i) {
    const std::uint32_t r = rows_[i];
    if (split.goes_left(codes[r], levels[codes[r]])) {
      rows_[middle++] = r;
    } else {
      right_rows_.push_back(r);
    }
  }
  std::copy(right_rows_.begin(), right_rows_.end(), rows_.begin() + middle);
  return middle;
}

TreeNode TreeTrainer::leaf_of(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights) {
  const Span<const std::int32_t> targets = table_.targets();
  if (table_.classes() == 0) {
    std::int64_t sum = 0, weight = 0;
    for (const std::uint32_t r : rows) {
      sum += static_cast<std::int64_t>(targets[r]) * weights[r];
      weight += weights[r];
    }
    const double mean = static_cast<double>(sum) / static_cast<double>(weight);
    double squares = 0;
    for (const std::uint32_t r : rows) {
      const double distance = static_cast<double>(targets[r]) - mean;
      squares += weights[r] * (distance * distance);
    }
    const double spread = std::sqrt(squares / static_cast<double>(weight)) * table_.step();
    return TreeNode::value_leaf(static_cast<float>(table_.offset() + mean * table_.step()),
                                static_cast<float>(spread), rows.size());
  }
  std::uint32_t total = 0, best = static_cast<std::uint32_t>(targets[rows[0]]);
  for (const std::uint32_t r : rows) {
    class_weights_[static_cast<std::size_t>(targets[r])] += weights[r];
    total += weights[r];
  }
  for (const std::uint32_t r : rows) {
    const auto c = static_cast<std::uint32_t>(targets[r]);
    if (class_weights_[c] > class_weights_[best] ||
        (class_weights_[c] == class_weights_[best] && c < best)) {
      best = c;
    }
  }
  const double share = static_cast<double>(class_weights_[best]) / total;
  for (const std::uint32_t r : rows) class_weights_[static_cast<std::size_t>(targets[r])] = 0;
  return TreeNode::class_leaf(best, share, rows.size());
}

}  // namespace idletune::learners
