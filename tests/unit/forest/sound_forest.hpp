// Whether a forest holds together, for tests and fuzzers. Forests are grown where they are used; no
// file has any.
#pragma once

#include <cstddef>

#include "models/forest/tree_view.hpp"

namespace idletune::test {

// Every tree is sound, and the trees cover the nodes one behind the other.
inline bool is_sound(const learners::ForestView& forest) {
  const std::size_t trees = forest.tree_count();
  if (trees == 0 || forest.starts[0] != 0 || forest.starts[trees] != forest.nodes.size()) {
    return false;
  }
  if (forest.shape.columns == 0 || forest.shape.columns > learners::kMaxFeatures ||
      forest.shape.classes > learners::kMaxClasses) {
    return false;
  }
  for (std::size_t i = 0; i < trees; ++i) {
    if (forest.starts[i + 1] < forest.starts[i] || forest.starts[i + 1] > forest.nodes.size() ||
        !verify(forest.tree(i).nodes(), forest.shape).ok()) {
      return false;
    }
  }
  return true;
}

}  // namespace idletune::test
