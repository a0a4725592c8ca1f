// Products on the host with a matrix in any format, to compare with those of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/krylov/formats.hpp"

namespace idletune::test {

// The numbers of the CSR's entries in their slots.
inline std::vector<double> numbers_of(const krylov::StoredPattern& stored,
                                      const std::vector<double>& values) {
  if (stored.slot.empty()) return values;
  std::vector<double> numbers(static_cast<std::size_t>(stored.slots), 0);
  krylov::scatter<double>(stored, values, numbers);
  return numbers;
}

inline std::size_t index_of(std::int32_t value) { return static_cast<std::size_t>(value); }

inline void add_diagonals(const krylov::StoredPattern& pattern, Span<const double> stored,
                          Span<const double> x, Span<double> y) {
  for (std::size_t i = 0; i < pattern.offset.size(); ++i) {
    for (std::size_t row = 0; row < y.size(); ++row) {
      const std::int64_t column = static_cast<std::int64_t>(row) + pattern.offset[i];
      if (column < 0 || column >= pattern.columns) continue;
      y[row] += stored[i * y.size() + row] * x[static_cast<std::size_t>(column)];
    }
  }
}

inline void add_slots(const krylov::StoredPattern& pattern, Span<const double> stored,
                      Span<const double> x, Span<double> y) {
  const std::size_t regular = index_of(pattern.rows) * index_of(pattern.width);
  for (std::size_t slot = 0; slot < regular; ++slot) {
    y[slot % y.size()] += stored[slot] * x[index_of(pattern.column[slot])];
  }
  for (std::size_t slot = regular; slot < stored.size(); ++slot) {
    y[index_of(pattern.row[slot - regular])] += stored[slot] * x[index_of(pattern.column[slot])];
  }
}

inline void add_slices(const krylov::StoredPattern& pattern, Span<const double> stored,
                       Span<const double> x, Span<double> y) {
  for (std::size_t place = 0; place < y.size(); ++place) {
    const std::size_t slice = place / index_of(krylov::kSliceRows);
    for (std::size_t k = index_of(pattern.row_start[slice]) + place % index_of(krylov::kSliceRows);
         k < index_of(pattern.row_start[slice + 1]); k += index_of(krylov::kSliceRows)) {
      y[index_of(pattern.row[place])] += stored[k] * x[index_of(pattern.column[k])];
    }
  }
}

inline void add_rows(const krylov::StoredPattern& pattern, Span<const double> stored,
                     Span<const double> x, Span<double> y) {
  for (std::size_t row = 0; row < y.size(); ++row) {
    for (std::size_t k = index_of(pattern.row_start[row]); k < index_of(pattern.row_start[row + 1]);
         ++k) {
      y[row] += stored[k] * x[index_of(pattern.column[k])];
    }
  }
}

// y = A x from the slots, as the format's kernels walk them. Sizes: stored[slots], x[columns],
// y[rows].
inline void multiply(const krylov::StoredPattern& pattern, Span<const double> stored,
                     Span<const double> x, Span<double> y) {
  for (double& number : y) number = 0;
  if (pattern.format == krylov::SparseFormat::dia) return add_diagonals(pattern, stored, x, y);
  if (pattern.format == krylov::SparseFormat::csr) return add_rows(pattern, stored, x, y);
  if (pattern.format == krylov::SparseFormat::sell) return add_slices(pattern, stored, x, y);
  add_slots(pattern, stored, x, y);  // COO has no regular part
}

}  // namespace idletune::test
