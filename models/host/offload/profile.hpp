// Profiles of regions of code, as a file that people can read. Host side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <idletune/result.hpp>

#include "models/host/offload/analysis/iterations.hpp"
#include "models/host/offload/features.hpp"
#include "models/host/offload/sample.hpp"

namespace idletune::offload {

// One region. Counts and features of all its entries together.
struct RegionProfile {
  std::string name;
  Groups groups;
  std::vector<double> features;  // in the order of profiled_features(); finite
  // Exact numbers by name: "entries", "instructions", "accesses", "branches", ...
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  std::optional<double> cpu_ms;  // of the region without instrumentation, all entries; above 0
  std::uint64_t bytes_in = 0;    // read before all is written: what would be copied to a GPU
  std::uint64_t bytes_out = 0;   // written
  bool sampled = false;          // the features are estimates from bursts; counts are exact
  // What the features could be as well, where the code alone does not say: profiles of what was not
  // run. In the order of `features`.
  std::vector<std::vector<double>> others;
  Iterations iterations = Iterations::unknown;
  std::vector<std::string> remarks;  // for people: limits that were hit, what was not followed
};

struct Profile {
  std::string program;  // what was run
  std::vector<RegionProfile> regions;
};

// A JSON text. Errors: invalid_argument if a region has another number of features than the set, or
// a number that is not finite, a time that is not above 0, or more than 16 others.
Result<std::string> profile_text(const Profile& profile);

// The profile in a text; `path` is for messages. Errors name file, region and feature: corrupt
// (no JSON, also one that ends early; not a profile; a feature that is missing, unknown or no
// finite number; a count that is negative; a name that occurs twice), version_mismatch (features of
// another version), out_of_memory (more than 64 MiB or 100,000 regions).
Result<Profile> parse_profile(std::string_view text, const std::string& path);

}  // namespace idletune::offload
