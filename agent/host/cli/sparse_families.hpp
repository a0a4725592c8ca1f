// Sparse matrices made up: families that differ in how they look, in any size. Structures only.
#pragma once

#include "agent/host/report/common.hpp"

#include <idletune/krylov.hpp>

namespace idletune::cli {

inline constexpr std::int32_t kMaxGeneratedRows = 1 << 20;

// "5-point", "7-point", "27-point" (grids), "banded", "fem-blocks", "power-law", "dense-rows",
// "random". The meshes are symmetric.
const std::vector<std::string_view>& sparse_family_names();

// Whether the text begins with one of the names and a colon.
bool names_sparse_family(std::string_view text);

// "FAMILY:ROWS" or "FAMILY:ROWS:SEED": the nearest matrix of the family that has at most so many
// rows. Without a seed grids are regular; with one their sides, fixed points and order are drawn, as
// is what the other families' names leave open. The same text gives the same matrix everywhere.
// Errors: invalid_argument, saying what was expected.
Result<krylov::SparsityPattern> generated_pattern(const std::string& text);

}  // namespace idletune::cli
