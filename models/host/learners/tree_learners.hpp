// A decision tree and a random forest behind the common interface.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/forest/forest.hpp"
#include "models/host/learners/learner.hpp"

namespace idletune::learners {

// One tree on all rows. The spread is that of the leaf.
class CartLearner final : public Learner {
 public:
  explicit CartLearner(const TreeOptions& options = {}, std::uint64_t seed = 1,
                       std::size_t max_bytes = ForestOptions{}.max_bytes);
  Status fit(const Dataset& data) override;
  Prediction predict(Span<const float> row) const override;
  const char* name() const override { return "cart"; }
  TreeView tree() const { return tree_.empty() ? TreeView() : tree_.view().tree(0); }

 private:
  ForestOptions options_;
  Forest tree_;
};

class ForestLearner final : public Learner {
 public:
  explicit ForestLearner(const ForestOptions& options = {}) : options_(options) {}
  Status fit(const Dataset& data) override;
  Prediction predict(Span<const float> row) const override;
  const char* name() const override { return "forest"; }

 private:
  ForestOptions options_;
  Forest forest_;
};

}  // namespace idletune::learners
