#include "models/predict/selector.hpp"

#include "models/predict/model_format.hpp"

namespace idletune {

using model_schema::kMaxSelectorFeatures;
using model_schema::kSelectorMargin;

bool SelectorView::covers(Span<const double> inputs) const {
  if (inputs.size() != low.size()) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!(inputs[i] * kSelectorMargin >= low[i] && inputs[i] <= high[i] * kSelectorMargin))
      return false;
  }
  return true;
}

SelectorView::Choice SelectorView::select(Span<const double> inputs) const {
  float features[kMaxSelectorFeatures];
  const std::size_t count = feature_count();
  for (std::size_t f = 0; f < count; ++f) {
    features[f] = selector_feature(exponents.data() + f * low.size(), inputs.data(), inputs.size());
  }
  const learners::TreeNode& leaf = tree.leaf({features, count});
  return {leaf.class_number(), static_cast<double>(leaf.class_share())};
}

}  // namespace idletune
