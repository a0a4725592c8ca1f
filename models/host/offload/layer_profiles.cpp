#include "models/host/offload/layer_profiles.hpp"

#include <algorithm>
#include <cmath>

namespace idletune::offload {
namespace {

double feature_of(const RegionProfile& region, const char* name) {
  return region.features[profiled_features().find(name)];
}

// What features are shares or means of, as counts of operations.
struct Counts {
  double instructions, accesses, single, blocks, pages;
};

Counts counts_of(const RegionProfile& region) {
  Counts counts{};
  counts.instructions = feature_of(region, "ninst");
  counts.accesses = feature_of(region, "mem") * counts.instructions;
  counts.single = feature_of(region, "fp") * counts.instructions;
  counts.blocks = feature_of(region, "coldRef") * counts.accesses;
  const double per_page = feature_of(region, "pages");
  counts.pages = per_page > 0 ? counts.accesses / per_page : 0;
  return counts;
}

// From one image and two to any number.
double grown(double one, double two, double images) { return one + (images - 1) * (two - one); }

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::uint64_t grown_bytes(std::uint64_t one, std::uint64_t two, double images) {
  const double bytes = grown(static_cast<double>(one), static_cast<double>(two), images);
  return static_cast<std::uint64_t>(std::llround(std::max(0.0, bytes)));
}

// What labels a layer in such a profile: "Convolution 3x51529 96x3025 k11 s4 g1" is channels times
// pixels before and after, the window's side, the stride and the groups.
std::string layer_label(const LayerShape& shape) {
  const auto text = [](double number) { return std::to_string(std::llround(number)); };
  return shape.kind + " " + text(shape.in_channels) + "x" + text(shape.in_pixels) + " " +
         text(shape.out_channels) + "x" + text(shape.out_pixels) + " k" + text(shape.kernel) +
         " s" + text(shape.stride) + " g" + text(shape.groups);
}

}  // namespace

Result<LayerProfiles> LayerProfiles::from(const Profile& profile) {
  LayerProfiles layers;
  for (const RegionProfile& region : profile.regions) {
    const std::size_t begin = region.name.find(' ');
    const std::size_t end = region.name.rfind(" b");
    if (begin == std::string::npos || end == std::string::npos || end <= begin) continue;
    const std::string images = region.name.substr(end + 2);
    Layer& layer = layers.layers_[region.name.substr(begin + 1, end - begin - 1)];
    if (images == "1") {
      layer.one = region;
      layer.has_one = true;
    } else if (images == "2") {
      layer.two = region;
      layer.has_two = true;
    }
  }
  for (const auto& [label, layer] : layers.layers_) {
    if (layer.has_one && layer.has_two) continue;
    return Status(StatusCode::corrupt, "the profile of " + profile.program + " has the layer '" +
                                           label + "' not with one image and with two");
  }
  if (layers.layers_.empty()) {
    return Status(StatusCode::not_found, "the profile of " + profile.program +
                                             " has no layers; expected one of layers.cpp");
  }
  return layers;
}

bool LayerProfiles::describe(const LayerShape& shape, double images, Sample& sample) const {
  const auto found = layers_.find(layer_label(shape));
  if (found == layers_.end()) return false;
  const RegionProfile &one = found->second.one, &two = found->second.two;
  const Counts a = counts_of(one), b = counts_of(two);
  const double all = grown(a.instructions, b.instructions, images);
  const double accesses = grown(a.accesses, b.accesses, images);
  const double single = grown(a.single, b.single, images);
  const double blocks = grown(a.blocks, b.blocks, images);
  sample.features = images < 2 ? one.features : two.features;
  const auto set = [&sample](const char* name, double value) {
    sample.features[profiled_features().find(name)] = value;
  };
  for (const char* name : {"mem", "ctrl", "int", "fp", "dp"}) {
    set(name, share(grown(feature_of(one, name) * a.instructions,
                          feature_of(two, name) * b.instructions, images),
                    all));
  }
  for (const char* name : {"mulf", "divf", "sqrtf", "expf", "sincosf"}) {
    set(name,
        share(grown(feature_of(one, name) * a.single, feature_of(two, name) * b.single, images),
              single));
  }
  set("ninst", all);
  set("coldRef", share(blocks, accesses));
  set("blocks", share(accesses, blocks));
  set("pages", share(accesses, grown(a.pages, b.pages, images)));
  sample.bytes_in = grown_bytes(one.bytes_in, two.bytes_in, images);
  sample.bytes_out = grown_bytes(one.bytes_out, two.bytes_out, images);
  return true;
}

}  // namespace idletune::offload
