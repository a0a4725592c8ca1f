// What `idletune inspect` tells of a sparse matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <idletune/result.hpp>

namespace idletune::cli {

// Whether the bytes begin like a Matrix Market file, plain or gzipped.
bool may_be_matrix(const std::vector<std::uint8_t>& bytes);

// Size, symmetry, features, and the bytes of each format in single precision. Errors: those of
// gunzip and read_matrix_market.
Result<nlohmann::json> describe_matrix(const std::vector<std::uint8_t>& bytes,
                                       const std::string& path);

}  // namespace idletune::cli
