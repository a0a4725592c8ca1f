// Profiles of the layers of networks, from loops that models/host/offload/layers/layers.cpp has. Host side.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include <idletune/result.hpp>

#include "models/host/offload/layer_features.hpp"
#include "models/host/offload/profile.hpp"

namespace idletune::offload {

// Layers that were profiled with one image and with two. Loops over images do the same for each, so
// whatever is counted grows evenly with their number; what is a mean or a share of windows is that
// of two images, for any number from two on.
class LayerProfiles {
 public:
  // Regions are called "FUNCTION LABEL b1" and "FUNCTION LABEL b2"; others are passed over. Errors:
  // corrupt (one of the two is missing), not_found (there are none at all).
  static Result<LayerProfiles> from(const Profile& profile);

  std::size_t size() const { return layers_.size(); }
  // Gives the sample profiled_features() of the layer with so many images, at least 1, and the
  // bytes in and out. False, and nothing changed, if the layer was not profiled.
  bool describe(const LayerShape& shape, double images, Sample& sample) const;

 private:
  struct Layer {
    RegionProfile one, two;
    bool has_one = false, has_two = false;
  };
  std::map<std::string, Layer> layers_;  // by label
};

}  // namespace idletune::offload
