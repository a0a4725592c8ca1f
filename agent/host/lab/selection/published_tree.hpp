// The decision trees of Cianfriglia et al. 2018: the sizes as they are, the fastest method as the
// label, the majority in each leaf. Host side.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/forest/tree_node.hpp"
#include "models/host/learn/selection.hpp"

namespace idletune::selection {

// Their H and L.
inline constexpr std::size_t kTreeHeights[] = {1, 2, 4, 8, 0};  // 0: no limit ("Max")
inline constexpr double kTreeLeaves[] = {1, 2, 4, 0.1, 0.2, 0.3, 0.4, 0.5};

class PublishedTree {
 public:
  // `leaf`: rows that a leaf has at least if 1 or more, else that share of all rows. `rows` must
  // not be empty. Errors: those of learners::TreeTrainer.
  static Result<PublishedTree> learn(const Problems& problems, const Rows& rows, std::size_t height,
                                     double leaf);
  std::size_t choose(const std::vector<double>& sizes) const;  // a method
  std::size_t leaves() const;
  std::size_t height() const;  // splits on the longest path
  // Different methods that its leaves name, by member.
  std::vector<std::size_t> classes(const Problems& problems) const;

 private:
  std::vector<learners::TreeNode> nodes_;
  std::vector<std::size_t> methods_;  // by class
};

// "h4-L0.1", "hMax-L1".
std::string tree_name(std::size_t height, double leaf);

}  // namespace idletune::selection
