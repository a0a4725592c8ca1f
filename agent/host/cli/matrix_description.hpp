// Sparse matrices in files, and what is told of them.
#pragma once

#include "agent/host/report/common.hpp"
#include "kernels/krylov/matrix_market.hpp"

namespace idletune::cli {

// Whether the bytes begin like a Matrix Market file, plain or gzipped.
bool may_be_matrix(const std::vector<std::uint8_t>& bytes);

// Errors: those of gunzip and read_matrix_market.
Result<krylov::MatrixMarket> read_matrix(const std::vector<std::uint8_t>& bytes,
                                         const std::string& path);

// By their published names.
json features_object(const krylov::SparsityPattern& pattern);

// Size, symmetry, features, and the bytes of each format in single precision. Errors: those of
// read_matrix.
Result<json> describe_matrix(const std::vector<std::uint8_t>& bytes, const std::string& path);

}  // namespace idletune::cli
