// Reads matrices in the Matrix Market exchange format (Boisvert, Pozo and Remington 1996).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <idletune/result.hpp>

#include "kernels/krylov/sparse_matrix.hpp"

namespace idletune::krylov {

struct MatrixMarket {
  SparseMatrix matrix;             // both halves, where the file holds one
  std::string field;               // "real", "integer", "pattern" (whose entries are 1)
  std::string symmetry;            // "general", "symmetric", "skew-symmetric"
  std::size_t file_entries = 0;    // lines of entries
  std::size_t explicit_zeros = 0;  // among those; they stay entries
  std::size_t duplicates = 0;      // lines for a place that had one before: their numbers are added
};

// `text` is the whole file; `name` is for messages, which say the line and what was expected.
// Errors: corrupt (not this format, truncated, more entries than promised, an index out of range, a
// number that is none or not finite, a skew-symmetric diagonal, both halves of a symmetric matrix);
// unsupported (arrays, complex and hermitian matrices); out_of_memory (2^31 entries or more; more
// than 2^24 rows or columns beyond the number of entries). What the file promises is believed only
// as far as its length allows.
Result<MatrixMarket> read_matrix_market(std::string_view text, const std::string& name);

}  // namespace idletune::krylov
