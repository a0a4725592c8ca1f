// Drawing configurations that differ little from a given one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <idletune/configuration.hpp>

#include "models/core/random.hpp"
#include "models/space/space.hpp"

namespace idletune {

// Draws valid configurations that differ from a given one in one to kMaxDifferences parameters,
// uniformly among all of those, or among those that differ in `differences` (fewer, where not so
// many can). Without walking the space: changes are drawn from the unconstrained combinations and
// rejected while the result is not valid.
class Neighbours {
 public:
  static constexpr std::size_t kMaxDifferences = 3;
  static constexpr int kAttempts = 1000;  // rejected ones in a row, then there is said to be none

  explicit Neighbours(const Space& space);  // must outlive this
  std::optional<Configuration> draw(const Configuration& around, Random& random,
                                    int attempts = kAttempts, std::size_t differences = 0) const;

 private:
  std::size_t draw_differences(Random& random) const;
  Configuration change(const Configuration& around, Random& random, std::size_t left) const;
  const Space& space_;
  std::vector<double> others_;  // per parameter: values besides the current one
  // ways_[p][k]: in how many ways k of the parameters p, p + 1, ... can be changed.
  std::vector<std::vector<double>> ways_;
};

}  // namespace idletune
