// k nearest neighbours (Cover & Hart 1967), by comparing with every row learned from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/learners/learner.hpp"

namespace idletune::learners {

struct NeighborOptions {
  std::size_t neighbors = 5;  // at least 1; all rows if there are fewer; at most kMaxNeighbors
  bool standardize = false;   // numeric columns to mean 0 and standard deviation 1 of the rows
  std::size_t max_bytes = std::size_t{64} << 20;
};

inline constexpr std::size_t kMaxNeighbors = 64;

// The distance is Euclidean; categories are at distance 1 from each other. Among rows at the same
// distance the one that came first in the data is nearer. Regression: the mean of the
// neighbours' targets and their standard deviation; classification: the class of most of them, the
// lowest number among equals.
class NearestNeighbors final : public Learner {
 public:
  explicit NearestNeighbors(const NeighborOptions& options = {}) : options_(options) {}

  Status fit(const Dataset& data) override;
  Prediction predict(Span<const float> row) const override;
  const char* name() const override { return "knn"; }

 private:
  struct Neighbor {
    double distance;  // squared
    std::uint32_t row;
  };
  std::size_t find(Span<const float> row, Neighbor* nearest) const;
  double squared_distance(const float* a, const float* b) const;
  Prediction mean_of(const Neighbor* nearest, std::size_t count) const;
  Prediction vote_of(const Neighbor* nearest, std::size_t count) const;

  NeighborOptions options_;
  std::size_t columns_ = 0;
  std::uint32_t classes_ = 0;
  std::vector<float> values_;
  std::vector<float> targets_;
  std::vector<double> factors_;  // per column, of squared differences; negative: categorical
};

}  // namespace idletune::learners
