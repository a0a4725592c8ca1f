// What is known of a piece of code that might run on a GPU: named numbers. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace idletune::offload {

// An ordered list of names. Other collections of measurements bring features of their own, so a
// learner asks the set and never supposes one.
struct FeatureSet {
  std::string name;           // of the set: "profiled", "aiwc", ...
  std::uint32_t version = 0;  // rises when a feature of that name comes to mean something else
  std::vector<std::string> names;

  // The feature's number; names.size() if there is none of that name.
  std::size_t find(const std::string& feature) const;
  friend bool operator==(const FeatureSet& a, const FeatureSet& b) {
    return a.name == b.name && a.version == b.version && a.names == b.names;
  }
};

// What the profiler measures: the 32 features of table 2 of Ardalani et al. 2015, `ninst` first.
const FeatureSet& profiled_features();

}  // namespace idletune::offload
