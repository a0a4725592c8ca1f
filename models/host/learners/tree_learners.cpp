#include "models/host/learners/tree_learners.hpp"

#include <utility>

namespace idletune::learners {
namespace {

Status fit_forest(const Dataset& data, const ForestOptions& options, Forest& forest) {
  auto grown = Forest::grow(data, options);
  if (!grown.ok()) return grown.status();
  forest = std::move(*grown);
  return {};
}

}  // namespace

CartLearner::CartLearner(const TreeOptions& options, std::uint64_t seed, std::size_t max_bytes) {
  options_.tree = options;
  options_.trees = 1;
  options_.bootstrap = false;
  options_.seed = seed;
  options_.max_bytes = max_bytes;
}

Status CartLearner::fit(const Dataset& data) { return fit_forest(data, options_, tree_); }
Prediction CartLearner::predict(Span<const float> row) const { return tree_.view().predict(row); }

Status ForestLearner::fit(const Dataset& data) { return fit_forest(data, options_, forest_); }
Prediction ForestLearner::predict(Span<const float> row) const {
  return forest_.view().predict(row);
}

}  // namespace idletune::learners
