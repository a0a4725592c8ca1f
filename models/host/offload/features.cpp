#include "models/host/offload/features.hpp"

#include <algorithm>

#include "models/host/offload/analysis/stream_features.hpp"

namespace idletune::offload {

std::size_t FeatureSet::find(const std::string& feature) const {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), feature) - names.begin());
}

const FeatureSet& profiled_features() {
  static const FeatureSet set{
      "profiled", 1, {kStreamFeatureNames.begin(), kStreamFeatureNames.end()}};
  return set;
}

}  // namespace idletune::offload
