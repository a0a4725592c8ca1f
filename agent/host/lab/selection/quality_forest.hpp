// Trees that know how good every method is, not only which is best. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "agent/host/lab/selection/quality_surface.hpp"
#include "models/host/learn/selection.hpp"

namespace idletune::selection {

// What a forest is grown with.
struct ForestRecipe {
  std::size_t trees = 32;
  std::size_t leaf_rows = 1;  // at least
  // Splits make the best single methods of both sides as good as possible; else they make the
  // sides' qualities differ as much as possible (least squares over all methods).
  bool greedy = false;
  std::size_t methods = 48;  // to choose from, at most
  // What a smooth surface promises is added to what the trees promise on average: it sees through
  // noise, and they see steps.
  bool surface = false;
};

// An ensemble of randomised trees over logarithms of sizes, products and ratios of two, and of what
// tiles of 16 and 64 waste. A leaf keeps the mean quality of each method.
class QualityForest {
 public:
  // Deterministic. `rows` must not be empty.
  QualityForest(const Problems& problems, const Rows& rows, const ForestRecipe& recipe,
                std::uint64_t seed);
  // The method that promises most at a problem; it need not run there.
  std::size_t choose(const Problems& problems, std::size_t problem) const;

 private:
  struct Node {
    std::size_t feature = 0;
    double threshold = 0;   // below or equal: the next node
    std::size_t right = 0;  // 0: a leaf
    std::vector<float> quality;
  };
  struct Cut {
    double gain = 0;
    std::size_t feature = 0;
    double threshold = 0;
  };
  void grow(const std::vector<std::vector<double>>& features,
            const std::vector<std::vector<float>>& quality, std::vector<std::size_t>& rows,
            std::uint64_t seed, std::vector<Node>& nodes);
  Cut best_cut(const std::vector<std::vector<double>>& features,
               const std::vector<std::vector<float>>& quality, const std::vector<std::size_t>& rows,
               std::size_t feature) const;
  double worth(const std::vector<double>& sums, double count) const;

  ForestRecipe recipe_;
  std::vector<std::size_t> methods_;
  std::vector<std::vector<Node>> trees_;
  std::optional<QualitySurface> surface_;
};

// The recipe whose forests choose best at rows left out of `training`, part by part.
ForestRecipe choose_forest(const Problems& problems, const Rows& training, std::uint64_t seed);

}  // namespace idletune::selection
