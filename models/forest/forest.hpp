// Random forests (Breiman 2001): trees grown on bootstrap samples, averaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/forest/tree_trainer.hpp"
#include "models/forest/tree_view.hpp"

namespace idletune::learners {

struct ForestOptions {
  TreeOptions tree;
  std::size_t trees = 32;  // 1 to kMaxTrees
  bool bootstrap = true;   // each tree draws as many rows as there are, with replacement
  std::uint64_t seed = 1;  // of bootstrap samples and candidate features
  std::size_t max_bytes = std::size_t{64} << 20;  // of memory while it learns and afterwards
};

class Forest {
 public:
  Forest() = default;

  // Grows all trees. Errors: invalid_argument (data or options), out_of_memory (more than
  // max_bytes, or a tree of more than kMaxTreeNodes).
  static Result<Forest> grow(const Dataset& data, const ForestOptions& options);

  // Grows the `count` oldest trees anew on other data with the same columns and classes: new
  // measurements reach the forest little by little, at a bounded cost per step. Calls `changed`
  // before and after each replacement, so that predictions kept elsewhere can follow: see
  // SlicedRows. Errors: as grow(), and invalid_argument for other columns or classes; the forest is
  // complete and consistent also then.
  class ChangeListener {
   public:
    virtual ~ChangeListener() = default;
    virtual void leaving(TreeView tree) = 0;
    virtual void arriving(TreeView tree) = 0;
  };
  Status renew(const Dataset& data, std::size_t count, ChangeListener* listener = nullptr);

  // Valid until the next renew() or the forest's end.
  ForestView view() const { return {nodes_, starts_, shape_}; }
  const ForestOptions& options() const { return options_; }
  bool empty() const { return nodes_.empty(); }

  // Most bytes held while growing on data of this size.
  static std::size_t bytes_needed(std::size_t rows, std::size_t columns, std::uint32_t classes,
                                  const ForestOptions& options);

 private:
  Status check_fit(const Dataset& data) const;
  void replace(std::size_t tree, const std::vector<TreeNode>& nodes);

  ForestOptions options_;
  TreeShape shape_;
  std::vector<TreeNode> nodes_;
  std::vector<std::uint32_t> starts_;
  std::size_t oldest_ = 0;
  std::uint64_t grown_ = 0;  // trees grown so far, renewed ones included
};

}  // namespace idletune::learners
