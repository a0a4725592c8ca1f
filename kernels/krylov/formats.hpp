// The forms that a sparse matrix is stored in for a product on a device, and how to get there.
// Sources: Bell and Garland 2009 for COO, DIA, ELL and HYB, Kreutzer et al. 2014 for SELL-C-sigma
// (agent/bibliography.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "kernels/krylov/sparse_matrix.hpp"

namespace idletune::krylov {

inline constexpr std::int32_t kSliceRows = 32;        // of SELL; SLICE in spmv/spmv_sell.cl
inline constexpr std::int32_t kSortedRows = 32 * 32;  // that SELL sorts together

// The structure of a matrix in one format. Numbers go to slots; those without an entry hold 0.
// Slots of DIA and ELL go down the columns (slot = i * rows + row, for the i-th diagonal or
// entry), so that neighbouring rows are neighbours in memory; those of SELL do so in each slice of
// kSliceRows places, the last of which may have places without a row.
struct StoredPattern {
  SparseFormat format = SparseFormat::csr;
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::int32_t width = 0;  // ELL, HYB: slots of each row; DIA: diagonals
  std::int32_t slots = 0;
  std::vector<std::int32_t> row_start;  // CSR: [rows + 1]; SELL: of slices, [slices + 1]
  // COO: [slots]; HYB: of the slots behind rows * width; SELL: of each place, [rows]
  std::vector<std::int32_t> row;
  std::vector<std::int32_t> column;  // all but DIA: [slots]; without an entry: 0
  std::vector<std::int32_t> offset;  // DIA: column minus row, ascending; [width]
  std::vector<std::int32_t> slot;    // of each entry of the CSR; empty: as they stand there
};

// Numbers of a matrix in a format, and bytes with indices of 4, without making it. Counted in 64
// bits: a dense row makes ELL and DIA as large as the dense matrix.
std::uint64_t stored_slots(const SparsityPattern& pattern, SparseFormat format);
std::uint64_t stored_bytes(const SparsityPattern& pattern, SparseFormat format,
                           std::size_t number_bytes);

// Errors: out_of_memory where it would take more than `limit_bytes`, or has more than
// kMostIndices slots; the message names both figures.
Result<StoredPattern> convert(const SparsityPattern& pattern, SparseFormat format,
                              std::size_t number_bytes, std::uint64_t limit_bytes);

// Puts the numbers of the CSR's entries into their slots, which they have; what the others hold, 0,
// stays. For new values of the same structure nothing is converted again. Sizes: values[entries],
// stored[slots].
template <class T>
void scatter(const StoredPattern& pattern, Span<const T> values, Span<T> stored) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    stored[static_cast<std::size_t>(pattern.slot[k])] = values[k];
  }
}

}  // namespace idletune::krylov
