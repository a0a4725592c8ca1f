// Growing one decision tree: CART (Breiman et al. 1984).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/core/random.hpp"
#include "models/forest/coded_table.hpp"
#include "models/forest/split_search.hpp"
#include "models/forest/tree_node.hpp"

namespace idletune::learners {

// Limits as scikit-learn has them.
struct TreeOptions {
  std::size_t height = kMaxTreeHeight;  // splits on a path at most; higher counts as kMaxTreeHeight
  std::size_t leaf_rows = 1;            // rows that a leaf must have at least (L >= 1), and
  double leaf_share = 0;       // as a share of the rows learned from, rounded up (0 <= L <= 1)
  std::size_t split_rows = 2;  // nodes with fewer rows become leaves
  // That a split may choose from, drawn anew each time; 0: all. Features that are constant in the
  // node count, unless all drawn ones are (as in scikit-learn).
  std::size_t candidate_features = 0;
};

// Errors: invalid_argument if the share is outside [0, 1].
Status check(const TreeOptions& options);

// Holds the working memory, so that many trees are grown without allocating. Keeps a reference to
// the table.
class TreeTrainer {
 public:
  TreeTrainer(const CodedTable& table, const TreeOptions& options);

  // Replaces `nodes` by a tree learned from the rows with weight > 0, each counting as often as its
  // weight in means and impurities, and once for the limits of leaves and splits (as in
  // scikit-learn). `random` draws candidate features only. Errors: invalid_argument unless
  // there is one weight per row and their sum is 1 to 2^31; out_of_memory if the tree needs more
  // than kMaxTreeNodes.
  Status grow(Span<const std::uint16_t> weights, Random& random, std::vector<TreeNode>& nodes);

  // Working memory, the table and the nodes not counted.
  static std::size_t bytes_needed(std::size_t rows, std::size_t columns, std::uint32_t classes);

 private:
  struct Pending {
    std::uint32_t begin;
    std::uint32_t end;     // of rows_
    std::uint32_t parent;  // whose right child this is; kNone: a left child or the root
    std::uint32_t depth;
  };
  TreeNode leaf_of(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights);
  bool is_pure(Span<const std::uint32_t> rows) const;
  bool find_split(Span<const std::uint32_t> rows, Span<const std::uint16_t> weights, Random& random,
                  Split& split);
  std::uint32_t partition(std::uint32_t begin, std::uint32_t end, const Split& split);

  const CodedTable& table_;
  TreeOptions options_;
  std::size_t leaf_rows_ = 1;
  SplitSearch search_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> right_rows_;
  std::vector<std::uint32_t> features_;
  std::vector<std::uint32_t> class_weights_;
  std::vector<Pending> pending_;
};

}  // namespace idletune::learners
