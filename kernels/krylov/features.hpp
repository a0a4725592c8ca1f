// Twelve numbers that say how a sparse matrix looks.
// Source: Li and Suda 2012, section 3.1 (agent/bibliography.md). Where the text leaves it open:
// standard deviations divide by the number of rows; a row without entries in a part counts with 0.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/krylov/sparse_matrix.hpp"

namespace idletune::krylov {

inline constexpr std::size_t kFeatures = 12;
// The names that the publication gives them, in the order of features_of().
extern const std::array<const char*, kFeatures> kFeatureNames;

// One pass over the entries; a matrix without rows has zeros.
std::array<double, kFeatures> features_of(const SparsityPattern& pattern);

}  // namespace idletune::krylov
