#include "models/host/offload/profile.hpp"

#include <limits>
#include <numeric>
#include <string>

#include <doctest/doctest.h>

#include "models/host/offload/analysis/function_name.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::offload;

namespace {

Profile profiled_example() {
  RegionProfile region;
  region.name = "conv1";
  region.groups.kernel = "conv";
  region.groups.network = "alexnet";
  region.features.resize(profiled_features().names.size());
  std::iota(region.features.begin(), region.features.end(), 0.1);
  region.counts = {{"entries", 3}, {"instructions", 18446744073709551615u}};
  region.cpu_ms = 1.25;
  region.bytes_in = 4096;
  region.bytes_out = 16;
  region.sampled = true;
  region.others = {region.features, region.features};
  region.others[1].front() = 7.5;
  region.iterations = Iterations::reduction;
  region.remarks = {"stopped after 10 s"};
  return {"./net --batch 2", {region}};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t place = text.find(what);
  REQUIRE(place != std::string::npos);
  return text.replace(place, what.size(), by);
}

void check_error(const std::string& text, StatusCode code, const std::string& words) {
  const auto read = parse_profile(text, "p.json");
  REQUIRE(!read.ok());
  CAPTURE(read.status().to_string());
  CHECK(read.code() == code);
  CHECK(read.status().message().find("p.json") == 0);
  CHECK(read.status().message().find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("the profiled features are the 32 of the publication's table, each once") {
  const FeatureSet& set = profiled_features();
  CHECK(set.names.size() == 32);
  for (std::size_t i = 0; i < set.names.size(); ++i) CHECK(set.find(set.names[i]) == i);
  CHECK(set.find("arith") == set.names.size());
}

TEST_CASE("a profile is read as it was written") {
  const Profile written = profiled_example();
  const auto text = required(profile_text(written));
  const auto read = required(parse_profile(text, "p.json"));
  CHECK(read.program == written.program);
  REQUIRE(read.regions.size() == 1);
  const RegionProfile& a = written.regions.front();
  const RegionProfile& b = read.regions.front();
  CHECK(a.name == b.name);
  CHECK(a.groups.kernel == b.groups.kernel);
  CHECK(a.groups.network == b.groups.network);
  CHECK(b.groups.suite.empty());
  CHECK(a.features == b.features);
  CHECK(a.others == b.others);
  CHECK(a.counts == b.counts);
  CHECK(a.cpu_ms == b.cpu_ms);
  CHECK(a.bytes_in == b.bytes_in);
  CHECK(a.bytes_out == b.bytes_out);
  CHECK(a.sampled == b.sampled);
  CHECK(a.iterations == b.iterations);
  CHECK(a.remarks == b.remarks);
}

TEST_CASE("a profile that cannot be read later is not written") {
  Profile profile = profiled_example();
  profile.regions[0].features[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK(profile_text(profile).code() == StatusCode::invalid_argument);
  profile = profiled_example();
  profile.regions[0].features.pop_back();
  CHECK(profile_text(profile).code() == StatusCode::invalid_argument);
  profile = profiled_example();
  profile.regions[0].cpu_ms = 0;
  CHECK(profile_text(profile).code() == StatusCode::invalid_argument);
}

TEST_CASE("features of another version are refused with both versions") {
  const std::string text = *profile_text(profiled_example());
  check_error(replaced(text, "\"feature_version\": 1", "\"feature_version\": 7"),
              StatusCode::version_mismatch, "features of version 7; this program reads version 1");
}

TEST_CASE("whatever is wrong in a profile is named") {
  const std::string text = *profile_text(profiled_example());
  const auto corrupt = [&](const char* what, const char* by, const char* words) {
    check_error(replaced(text, what, by), StatusCode::corrupt, words);
  };
  corrupt("idletune offload profile", "another thing", "no profile");
  corrupt("\"ilp.32\": 1.1", "\"ilp.32\": null", "region 'conv1': 'ilp.32' is not a finite number");
  corrupt("\"ilp.32\": 1.1", "\"ilp.32\": NaN", "'ilp.32' is not a finite number");
  corrupt("\"ilp.32\": 1.1", "\"ilp.33\": 1.1", "feature 'ilp.32' is missing");
  corrupt("\"ilp.32\": 1.1", "\"ilp.32\": 1.1, \"x\": 2", "'x' is no feature");
  corrupt("\"cpu_ms\": 1.25", "\"cpu_ms\": 0", "'cpu_ms' is not above 0");
  corrupt("\"bytes_in\": 4096", "\"bytes_in\": -1", "'bytes_in' is not a whole number");
  corrupt("\"entries\": 3", "\"entries\": 0.5", "'entries' is not a whole number");
  corrupt("\"reduction\"", "\"sometimes\"", "iterations 'sometimes' are none of");
  corrupt("\"sampled\": true", "\"sampled\": 1", "'sampled' is not true or false");
  corrupt("\"ninst\": 7.5", "\"ninst\": false", "'ninst' is not a finite number");
  corrupt("\"others\": [", "\"others\": [3, ", "no object 'features'");
  corrupt("\"others\": [", "\"others\": 3, \"x\": [", "'others' is not a list of at most 16");
  corrupt("\"name\": \"conv1\"", "\"name\": 3", "region 0: no text 'name'");
}

TEST_CASE("a region's name occurs once in a profile") {
  Profile profile = profiled_example();
  profile.regions.push_back(profile.regions.front());
  check_error(*profile_text(profile), StatusCode::corrupt, "region 'conv1': occurs twice");
}

TEST_CASE("a profile that ends early anywhere is refused") {
  std::string text = *profile_text(profiled_example());
  text.pop_back();  // the line's end
  for (std::size_t size = 0; size < text.size(); size += 7) {
    const auto read = parse_profile(std::string_view(text).substr(0, size), "p.json");
    CAPTURE(size);
    CHECK(read.code() == StatusCode::corrupt);
  }
}

TEST_CASE("functions have the names that can be asked for") {
  CHECK(without_arguments("f") == "f");
  CHECK(without_arguments("space::scale(float*, int)") == "space::scale");
  CHECK(without_arguments("void space::scale<float>(float*)") == "space::scale<float>");
  CHECK(without_arguments("std::vector<int, X<2> > (anonymous namespace)::g<A<int> >(int)") ==
        "g<A<int> >");
  CHECK(without_arguments("space::Op::operator()(int) const") == "space::Op::operator()");
  CHECK(without_arguments("void Op::operator()<int>(int)") == "Op::operator()<int>");
  CHECK(without_arguments("bool operator< <int>(A<int>, A<int>)") == "operator< <int>");
  CHECK(without_arguments("my_operator(int)") == "my_operator");
  CHECK(without_arguments("f(int)::{lambda(int)#1}::operator()(int) const") ==
        "f(int)::{lambda(int)#1}::operator()(int) const");
}
