// Matrices of the tests: the small ones of tests/data/krylov, and recorded features.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/krylov/features.hpp"
#include "kernels/krylov/matrix_market.hpp"

namespace idletune::test {

inline const char* const kSmallMatrices[] = {"small.mtx", "symmetric.mtx", "pattern.mtx"};

inline std::string krylov_data(const std::string& name) {
  const char* folder = std::getenv("IDLETUNE_TEST_DATA");
  REQUIRE_MESSAGE(folder != nullptr, "IDLETUNE_TEST_DATA names tests/data");
  std::ifstream file(std::string(folder) + "/krylov/" + name);
  REQUIRE_MESSAGE(file.good(), name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline krylov::MatrixMarket read_good(const std::string& text, const std::string& name = "test") {
  auto read = krylov::read_matrix_market(text, name);
  REQUIRE_MESSAGE(read.ok(), read.status().to_string());
  return std::move(*read);
}

// What NumPy says of each file (make_features.py there).
inline std::map<std::string, std::array<double, krylov::kFeatures>> recorded_features() {
  std::map<std::string, std::array<double, krylov::kFeatures>> recorded;
  std::istringstream lines(krylov_data("features.txt"));
  std::string name;
  while (lines >> name) {
    for (double& feature : recorded[name]) lines >> feature;
  }
  return recorded;
}

inline void check_features(const krylov::SparsityPattern& pattern,
                           const std::array<double, krylov::kFeatures>& expected) {
  const auto features = krylov::features_of(pattern);
  for (std::size_t i = 0; i < krylov::kFeatures; ++i) {
    CAPTURE(krylov::kFeatureNames[i]);
    CHECK(features[i] == doctest::Approx(expected[i]).epsilon(1e-10));
  }
}

}  // namespace idletune::test
