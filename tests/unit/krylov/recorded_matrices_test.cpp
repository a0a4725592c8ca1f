// The matrices of the SuiteSparse collection that are there where the recorded data is.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/krylov/collected_matrices.hpp"
#include "tests/unit/krylov/stored_product.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;

namespace {

// Largest difference of any element, as a share of what the element's terms add up to.
double largest_error(const krylov::SparseMatrix& matrix, const krylov::StoredPattern& stored) {
  std::vector<double> x(static_cast<std::size_t>(matrix.pattern.columns));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7 % 13) / 6.5 - 1;
  std::vector<double> expected(static_cast<std::size_t>(matrix.pattern.rows));
  std::vector<double> scale(expected.size());
  std::vector<double> got(expected.size());
  test::multiply(stored, test::numbers_of(stored, matrix.values), x, got);
  krylov::multiply(matrix.pattern, matrix.values, x, expected);
  std::vector<double> sizes(matrix.values);
  for (double& size : sizes) size = std::fabs(size);
  for (double& size : x) size = std::fabs(size);
  krylov::multiply(matrix.pattern, sizes, x, scale);
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (scale[i] > 0) worst = std::max(worst, std::fabs(got[i] - expected[i]) / scale[i]);
    if (scale[i] == 0) CHECK(got[i] == 0);
  }
  return worst;
}

void check_matrix(const std::string& path, const std::array<double, krylov::kFeatures>& features) {
  const krylov::SparseMatrix matrix = test::read_collected(path).matrix;
  CHECK(krylov::check(matrix.pattern).ok());
  test::check_features(matrix.pattern, features);
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    const auto format = static_cast<krylov::SparseFormat>(i);
    CAPTURE(krylov::sparse_format_name(format));
    const auto stored =
        krylov::convert(matrix.pattern, format, sizeof(double), std::uint64_t{64} << 20);
    if (!stored.ok()) {
      CHECK(stored.status().code() == StatusCode::out_of_memory);
      CHECK(format != krylov::SparseFormat::csr);
      continue;
    }
    CHECK(largest_error(matrix, *stored) < 1e-14);
  }
}

}  // namespace

TEST_CASE("collected matrices: features are NumPy's, products of all formats agree" *
          doctest::test_suite("recorded data")) {
  const std::string folder = test::collected_matrices();
  if (folder.empty()) return test::skip("no recorded matrices (IDLETUNE_SHARED)");
  std::size_t seen = 0;
  for (const auto& [name, features] : test::recorded_features()) {
    for (const char* kind : {"spd/", "general/"}) {
      const std::string path = folder + kind + name + ".gz";
      if (!std::filesystem::exists(path)) continue;
      CAPTURE(path);
      check_matrix(path, features);
      ++seen;
    }
  }
  CHECK(seen == 47);
}
