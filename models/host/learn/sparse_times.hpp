// Learning what products with sparse matrices take: for each format, kernel and work group a linear
// model of the logarithms. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/host/learn/sparse_table.hpp"

namespace idletune::sparse {

inline constexpr std::size_t kLeastMatrices = 8;  // that a candidate was measured on, to be learned
inline constexpr double kPenalty = 1;

struct LearnedTimes {
  std::vector<std::size_t> candidates;  // places in the table
  std::vector<float> coefficients;      // kProductInputs + 1 per candidate, of microseconds
  std::vector<float> conversion;        // likewise per format; a format that is not known: 0, and
                                        // a constant of -2000: no time at all
  bool empty() const { return candidates.empty(); }
  // Microseconds of candidates[i].
  double predicted(const Table& table, std::size_t matrix, std::size_t i) const;
};

// From the matrices of these places.
LearnedTimes learn_times(const Table& table, const std::vector<std::size_t>& matrices);

// The bytes of the model's section. Tables of which nothing could be learned are left out; empty
// where that is all of them.
std::vector<std::uint8_t> write_product_times(const std::vector<Table>& tables);

}  // namespace idletune::sparse
