#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "models/host/pack/pack.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"
#include "tests/unit/space/clblast_gemm.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

// The unpacked text; empty if the file is not there.
std::string read_gz(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  char block[65536];
  for (int n = 0; (n = gzread(file, block, sizeof(block))) > 0;) {
    text.append(block, static_cast<std::size_t>(n));
  }
  gzclose(file);
  return text;
}

// The names of the entries of the object "cache"; their contents are not built.
std::set<std::string> cache_keys(const std::string& text) {
  std::set<std::string> keys;
  bool in_cache = false;
  const auto filter = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (event != nlohmann::json::parse_event_t::key) return true;
    if (depth == 1) in_cache = value == "cache";
    if (depth == 2 && in_cache) keys.insert(value.get<std::string>());
    return depth < 2;
  };
  const auto ignored = nlohmann::json::parse(text, filter);
  return keys;
}

std::string cache_key(const Configuration& configuration) {
  std::string key;
  for (std::int64_t value : configuration.values()) {
    key += (key.empty() ? "" : ",") + std::to_string(value);
  }
  return key;
}

}  // namespace

TEST_CASE("CLBlast's gemm space has the 17956 valid configurations of the published measurements") {
  const auto space = required(build_space(clblast_gemm_parameters(), clblast_gemm_constraints()));
  CHECK(space.combinations() == 82944);
  REQUIRE(space.indexed());
  CHECK(space.valid_count() == 17956);
}

TEST_CASE("enumerating CLBlast's gemm space gives exactly the measured configurations" *
          doctest::test_suite("recorded data")) {
  const char* shared = std::getenv("IDLETUNE_SHARED");
  const std::string text = read_gz(std::string(shared == nullptr ? "" : shared) +
                                   "/data/tuning/kernel_tuner/gemm-RTX_3090.json.gz");
  if (text.empty()) {
    return test::skip("no recorded measurements (IDLETUNE_SHARED)");
  }
  const std::set<std::string> measured = cache_keys(text);
  REQUIRE(measured.size() == 17956);
  const auto space = required(build_space(clblast_gemm_parameters(), clblast_gemm_constraints()));
  std::set<std::string> enumerated;
  Configuration configuration;
  for (Space::Cursor cursor = space.cursor(); cursor.next(configuration);) {
    enumerated.insert(cache_key(configuration));
  }
  CHECK(enumerated == measured);
}
