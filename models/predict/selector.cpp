#include "models/predict/selector.hpp"

#include <cstdint>
#include <cstring>

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

// Half of the comparisons go an unforeseeable way for problems that are new, and what a processor
// guessed wrong costs it more than the comparison. So both children are read and one is chosen by a
// mask. No feature is below zero, and neither is a threshold: their bits compare as they do (NaN
// above all).
SelectorView::Choice SelectorView::select(Span<const double> inputs) const {
  std::uint32_t features[kMaxSelectorFeatures];
  const std::size_t count = feature_count();
  for (std::size_t f = 0; f < count; ++f) {
    const float feature =
        selector_feature(exponents.data() + f * low.size(), inputs.data(), inputs.size());
    std::memcpy(&features[f], &feature, sizeof feature);
  }
  const learners::TreeNode* at = tree.nodes().data();
  learners::TreeNode node = *at;
  while (!node.is_leaf()) {
    const std::uint64_t right =
        -static_cast<std::uint64_t>(node.threshold_bits() < features[node.feature()]);
    const std::size_t between = node.link() - 1;  // the children
    const std::uint64_t left_bits = at[1].bits();
    node =
        learners::TreeNode::from_bits(left_bits ^ ((left_bits ^ at[1 + between].bits()) & right));
    at += 1 + (between & right);
  }
  return {node.class_number(), static_cast<double>(node.class_share())};
}

}  // namespace idletune
