#include "agent/host/cli/sparse_families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "kernels/krylov/features.hpp"
#include "kernels/krylov/sparse_matrix.hpp"

namespace {

using namespace idletune;
using krylov::SparsityPattern;

SparsityPattern made(const std::string& text) {
  auto pattern = cli::generated_pattern(text);
  REQUIRE_MESSAGE(pattern.ok(), pattern.status().to_string());
  return std::move(*pattern);
}

bool is_symmetric(const SparsityPattern& pattern) {
  std::set<std::pair<std::int32_t, std::int32_t>> entries;
  for (std::int32_t i = 0; i < pattern.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto k = pattern.row_start[row]; k < pattern.row_start[row + 1]; ++k)
      entries.emplace(i, pattern.column[static_cast<std::size_t>(k)]);
  }
  return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return entries.count({entry.second, entry.first}) == 1;
  });
}

TEST_CASE("every family makes matrices in compressed rows with a full diagonal") {
  for (const std::string_view family : cli::sparse_family_names()) {
    for (const char* rows : {"3", "60", "1000"}) {
      const std::string text = std::string(family) + ":" + rows;
      CAPTURE(text);
      const SparsityPattern pattern = made(text);
      CHECK(krylov::check(pattern).ok());
      CHECK(pattern.rows == pattern.columns);
      CHECK(pattern.rows <= std::stoi(rows));
      CHECK(pattern.entries() >= static_cast<std::size_t>(pattern.rows));
    }
  }
}

TEST_CASE("grids have the neighbours that their names say") {
  CHECK(made("5-point:100").entries() == 5 * 100 - 4 * 10);
  CHECK(made("7-point:1000").entries() == 7 * 1000 - 6 * 100);
  const auto features = krylov::features_of(made("27-point:1000"));
  CHECK(features[4] == 27);  // the longest row
  CHECK(features[5] == 8);   // the shortest: a corner
  for (const char* text : {"5-point:100", "7-point:125", "27-point:125", "fem-blocks:108"})
    CHECK(is_symmetric(made(text)));
}

TEST_CASE("the same text makes the same matrix, another seed another one") {
  for (const char* family : {"banded", "power-law", "dense-rows", "random"}) {
    const std::string text = std::string(family) + ":500";
    CAPTURE(text);
    CHECK(made(text).column == made(text + ":1").column);
    CHECK(made(text).column != made(text + ":2").column);
  }
}

TEST_CASE("of a grid with a seed sides, fixed points and order are drawn") {
  std::set<bool> in_order;
  for (const char* family : {"5-point", "7-point", "27-point", "fem-blocks"}) {
    const std::string text = std::string(family) + ":600:";
    CHECK(made(text + "1").column != made(text + "2").column);
    for (int seed = 1; seed <= 8; ++seed) {
      CAPTURE(text);
      CAPTURE(seed);
      const SparsityPattern pattern = made(text + std::to_string(seed));
      CHECK(krylov::check(pattern).ok());
      CHECK(is_symmetric(pattern));
      CHECK(pattern.rows <= 600);
      CHECK(pattern.entries() < made(text.substr(0, text.size() - 1)).entries());
      in_order.insert(krylov::features_of(pattern)[6] < 60);  // how far from the diagonal
    }
  }
  CHECK(in_order.size() == 2);
}

TEST_CASE("a dense row is there") { CHECK(krylov::features_of(made("dense-rows:500"))[4] == 500); }

TEST_CASE("what is no family, or no number of rows, is refused with the names") {
  for (const char* text : {"6-point:100", "random:", "random:0", "random:2000000", "random:10:x",
                           "random:10:1:1", "random"}) {
    CAPTURE(text);
    const auto pattern = cli::generated_pattern(text);
    REQUIRE(!pattern.ok());
    CHECK(pattern.status().message().find("power-law") != std::string::npos);
  }
  CHECK(!cli::names_sparse_family("random.mtx"));
}

}  // namespace
