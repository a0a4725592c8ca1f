#include "models/forest/forest.hpp"

#include <algorithm>
#include <string>

namespace idletune::learners {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15ull;

// The generator of the `number`th tree that a forest grows.
Random generator_of(std::uint64_t seed, std::uint64_t number) {
  return Random(Random(seed + number * kGoldenGamma).next());
}

// How often each row is drawn; leaves `random` ready for the candidate features.
void draw_rows(bool bootstrap, Random& random, std::vector<std::uint16_t>& weights) {
  std::fill(weights.begin(), weights.end(), static_cast<std::uint16_t>(bootstrap ? 0 : 1));
  if (!bootstrap) return;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::uint16_t& weight = weights[static_cast<std::size_t>(random.below(weights.size()))];
    if (weight < UINT16_MAX) ++weight;
  }
}

Status check(const ForestOptions& options) {
  if (options.trees == 0 || options.trees > kMaxTrees) {
    return Status(StatusCode::invalid_argument, "forest options: " + std::to_string(options.trees) +
                                                    " trees; expected 1 to " +
                                                    std::to_string(kMaxTrees));
  }
  return check(options.tree);
}

// How many nodes a tree may have, for a power of two of rows: where a forest gets more room, it is
// there one and a half times.
std::size_t node_room(std::size_t rows, const TreeOptions& options) {
  std::size_t leaves = 1;
  while (leaves < rows) leaves *= 2;
  // A tree has at most one leaf per `leaf_rows` rows.
  leaves = std::max<std::size_t>(1, leaves / std::max<std::size_t>(1, options.leaf_rows));
  if (options.height < 20) leaves = std::min(leaves, std::size_t{1} << options.height);
  return std::min(2 * leaves - 1, kMaxTreeNodes);
}

}  // namespace

Result<Forest> Forest::grow(const Dataset& data, const ForestOptions& options) {
  if (Status sound = check(options); !sound.ok()) return sound;
  Forest forest;
  forest.options_ = options;
  forest.shape_ = {data.columns, data.classes};
  if (Status fits = forest.check_fit(data); !fits.ok()) return fits;
  const auto table = CodedTable::build(data);
  if (!table.ok()) return table.status();
  TreeTrainer trainer(*table, options.tree);
  std::vector<std::uint16_t> weights(data.rows());
  std::vector<TreeNode> tree;
  tree.reserve(node_room(data.rows(), options.tree));
  forest.nodes_.reserve(options.trees * tree.capacity());
  forest.starts_.reserve(options.trees + 1);
  forest.starts_.push_back(0);
  for (std::size_t i = 0; i < options.trees; ++i) {
    Random random = generator_of(options.seed, forest.grown_++);
    draw_rows(options.bootstrap, random, weights);
    if (Status grown = trainer.grow(weights, random, tree); !grown.ok()) return grown;
    forest.nodes_.insert(forest.nodes_.end(), tree.begin(), tree.end());
    forest.starts_.push_back(static_cast<std::uint32_t>(forest.nodes_.size()));
  }
  return forest;
}

Status Forest::renew(const Dataset& data, std::size_t count, ChangeListener* listener) {
  if (data.columns != shape_.columns || data.classes != shape_.classes) {
    return Status(StatusCode::invalid_argument,
                  "a forest is renewed with data of other columns or classes");
  }
  if (Status fits = check_fit(data); !fits.ok()) return fits;
  const auto table = CodedTable::build(data);
  if (!table.ok()) return table.status();
  TreeTrainer trainer(*table, options_.tree);
  std::vector<std::uint16_t> weights(data.rows());
  std::vector<TreeNode> tree;
  tree.reserve(node_room(data.rows(), options_.tree));
  nodes_.reserve(options_.trees * tree.capacity());
  for (std::size_t i = 0; i < std::min(count, options_.trees); ++i) {
    Random random = generator_of(options_.seed, grown_);
    draw_rows(options_.bootstrap, random, weights);
    if (Status grown = trainer.grow(weights, random, tree); !grown.ok()) return grown;
    ++grown_;
    if (listener != nullptr) {
      listener->leaving(view().tree(oldest_));
      listener->arriving(TreeView(tree));
    }
    replace(oldest_, tree);
    oldest_ = (oldest_ + 1) % options_.trees;
  }
  return {};
}

void Forest::replace(std::size_t tree, const std::vector<TreeNode>& nodes) {
  const auto begin = nodes_.begin() + starts_[tree];
  const std::size_t old_size = starts_[tree + 1] - starts_[tree];
  const std::size_t common = std::min(old_size, nodes.size());
  std::copy_n(nodes.begin(), common, begin);
  const auto rest = begin + static_cast<std::ptrdiff_t>(common);
  if (nodes.size() < old_size) {
    nodes_.erase(rest, begin + static_cast<std::ptrdiff_t>(old_size));
  } else {
    nodes_.insert(rest, nodes.begin() + static_cast<std::ptrdiff_t>(common), nodes.end());
  }
  for (std::size_t i = tree + 1; i < starts_.size(); ++i) {
    starts_[i] = static_cast<std::uint32_t>(starts_[i] + nodes.size() - old_size);
  }
}

Status Forest::check_fit(const Dataset& data) const {
  const std::size_t needed = bytes_needed(data.rows(), data.columns, data.classes, options_);
  if (needed <= options_.max_bytes) return {};
  return Status(StatusCode::out_of_memory,
                "a forest of " + std::to_string(options_.trees) + " trees on " +
                    std::to_string(data.rows()) + " rows may need " + std::to_string(needed) +
                    " bytes; the limit is " + std::to_string(options_.max_bytes));
}

std::size_t Forest::bytes_needed(std::size_t rows, std::size_t columns, std::uint32_t classes,
                                 const ForestOptions& options) {
  return CodedTable::bytes_needed(rows, columns) +
         TreeTrainer::bytes_needed(rows, columns, classes) + rows * sizeof(std::uint16_t) +
         (options.trees * 3 / 2 + 2) * node_room(rows, options.tree) * sizeof(TreeNode) +
         (options.trees + 1) * sizeof(std::uint32_t);
}

}  // namespace idletune::learners
