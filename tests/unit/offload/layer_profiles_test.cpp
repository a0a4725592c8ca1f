#include "models/host/offload/layer_profiles.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "models/host/history/compression.hpp"
#include "models/host/offload/import_samples.hpp"
#include "tests/bytes_of.hpp"
#include "tests/paths.hpp"
#include "tests/unit/required.hpp"

namespace idletune::offload {
namespace {

RegionProfile region(const std::string& name, double instructions, double accesses, double blocks) {
  RegionProfile region;
  region.name = name;
  region.features.assign(profiled_features().names.size(), 0.5);
  const auto set = [&region](const char* feature, double value) {
    region.features[profiled_features().find(feature)] = value;
  };
  set("ninst", instructions);
  set("mem", accesses / instructions);
  set("coldRef", blocks / accesses);
  set("pages", accesses / blocks * 32);
  region.bytes_in = static_cast<std::uint64_t>(128 * blocks);
  return region;
}

LayerShape relu() {
  LayerShape shape;
  shape.kind = "ReLU";
  shape.in_channels = shape.out_channels = 3;
  shape.in_pixels = shape.out_pixels = 100;
  return shape;
}

double feature(const Sample& sample, const char* name) {
  return sample.features[profiled_features().find(name)];
}

TEST_CASE("what one image and two need says what any number needs") {
  Profile profile;
  profile.regions = {region("rectify ReLU 3x100 3x100 k0 s0 g1 b1", 1000, 600, 20),
                     region("rectify ReLU 3x100 3x100 k0 s0 g1 b2", 1900, 1100, 30)};
  profile.regions[1].features[profiled_features().find("ilp.32")] = 7;
  const LayerProfiles layers = required(LayerProfiles::from(profile));
  CHECK(layers.size() == 1);
  Sample sample;
  REQUIRE(layers.describe(relu(), 5, sample));
  CHECK(feature(sample, "ninst") == doctest::Approx(4600));
  CHECK(feature(sample, "mem") == doctest::Approx(2600.0 / 4600));
  CHECK(feature(sample, "coldRef") == doctest::Approx(60.0 / 2600));
  CHECK(feature(sample, "blocks") == doctest::Approx(2600.0 / 60));
  CHECK(feature(sample, "pages") == doctest::Approx(2600.0 / 60 * 32));
  CHECK(feature(sample, "fp") == doctest::Approx(0.5));
  CHECK(feature(sample, "ilp.32") == 7);
  CHECK(sample.bytes_in == 128 * 60);
  REQUIRE(layers.describe(relu(), 1, sample));
  CHECK(feature(sample, "ninst") == 1000);
  CHECK(feature(sample, "ilp.32") == 0.5);
}

TEST_CASE("a layer that was not profiled is left as it is") {
  Profile profile;
  profile.regions = {region("rectify ReLU 3x100 3x100 k0 s0 g1 b1", 1000, 600, 20),
                     region("rectify ReLU 3x100 3x100 k0 s0 g1 b2", 1900, 1100, 30)};
  LayerShape other = relu();
  other.in_pixels = 101;
  Sample sample;
  CHECK_FALSE(LayerProfiles::from(profile)->describe(other, 2, sample));
  CHECK(sample.features.empty());
}

TEST_CASE("a layer with one number of images only is said, and so is a profile without any") {
  Profile profile;
  profile.program = "x.cpp";
  CHECK(LayerProfiles::from(profile).code() == StatusCode::not_found);
  profile.regions = {region("rectify ReLU 3x100 3x100 k0 s0 g1 b1", 1000, 600, 20)};
  const Result<LayerProfiles> layers = LayerProfiles::from(profile);
  CHECK(layers.code() == StatusCode::corrupt);
  CHECK(layers.status().message().find("'ReLU 3x100 3x100 k0 s0 g1'") != std::string::npos);
}

TEST_CASE("times of layers get the features of profiles, and layers without one are left out") {
  const std::string times =
      "device,network,variant,batch,threads,rep,layer_index,layer,direction,time_ms\n"
      "b,n,cpu,5,4,0,1,relu,forward,2\nb,n,gpu,5,,0,1,relu,forward,1\n"
      "b,n,cpu,5,4,0,2,norm,forward,2\nb,n,gpu,5,,0,2,norm,forward,1\n";
  const std::string shapes =
      "network,layer,type,in_channels,in_height,in_width,out_channels,out_height,out_width,kernel,"
      "stride,group,extra,numbering\n"
      "n,relu,ReLU,3,10,10,3,10,10,,,,,caffe\nn,norm,LRN,3,10,10,3,10,10,,,,local_size=5,caffe\n";
  Profile profile;
  profile.regions = {region("rectify ReLU 3x100 3x100 k0 s0 g1 b1", 1000, 600, 20),
                     region("rectify ReLU 3x100 3x100 k0 s0 g1 b2", 1900, 1100, 30)};
  const LayerProfiles layers = required(LayerProfiles::from(profile));
  const auto set = required(
      import_layers(test::bytes_of(times), "t.csv", test::bytes_of(shapes), "s.csv", &layers));
  CHECK(set.features == profiled_features());
  REQUIRE(set.samples.size() == 1);
  CHECK(feature(set.samples[0], "ninst") == doctest::Approx(4600));
  REQUIRE_FALSE(set.remarks.empty());
  CHECK(set.remarks.back() == "1 of 2 layers and batches have no profile");
}

TEST_CASE("the recorded profile has the layers that a network needs, and they grow evenly") {
  std::ifstream file(IDLETUNE_TEST_DATA_FOLDER "/offload/layers_profile.json.gz", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string unpacked;
  const auto text =
      required(gunzip(test::bytes_of(bytes), 16U << 20U, "layers_profile.json.gz", unpacked));
  const Profile profile = required(parse_profile(text.text, "layers_profile.json.gz"));
  const LayerProfiles layers = required(LayerProfiles::from(profile));
  CHECK(layers.size() == 191);
  // The first convolution of AlexNet: 3 * 11 * 11 products for each of 96 * 55 * 55 numbers.
  LayerShape shape;
  shape.kind = "Convolution";
  shape.in_channels = 3;
  shape.in_pixels = 227 * 227;
  shape.out_channels = 96;
  shape.out_pixels = 55 * 55;
  shape.kernel = 11;
  shape.stride = 4;
  Sample sample;
  for (const double images : {1.0, 2.0, 16.0}) {
    REQUIRE(layers.describe(shape, images, sample));
    const double products =
        feature(sample, "mulf") * feature(sample, "fp") * feature(sample, "ninst");
    CHECK(products == doctest::Approx(images * 3 * 11 * 11 * 96 * 55 * 55).epsilon(1e-9));
  }
}

}  // namespace
}  // namespace idletune::offload
