// A table of products whose times follow a rule.
#pragma once

#include <string>

#include "models/host/learn/sparse_table.hpp"

namespace idletune::test {

// CSR takes 2 ns an entry, ELL 1 ns a slot, group size 64 always half as long as 16; rows are even
// in one half of the matrices and one row is long in the other, so that ELL is right for the first.
inline sparse::Table made_products(std::size_t matrices) {
  sparse::Table table;
  table.device = "made up";
  table.number_bytes = 8;
  for (const std::uint8_t format : {std::uint8_t{0}, std::uint8_t{3}}) {
    for (const std::uint32_t size : {16u, 64u}) table.candidates.push_back({format, false, size});
  }
  for (std::size_t m = 0; m < matrices; ++m) {
    sparse::Matrix matrix;
    matrix.name = "matrix" + std::to_string(m);
    matrix.family = matrix.name;
    const double rows = 100.0 * static_cast<double>(1 + m * 7 % 31);
    const double mean = static_cast<double>(2 + m % 9);
    const double longest = m % 2 == 0 ? mean : 16 * mean;
    matrix.features = {rows, rows * mean, mean, longest - mean, longest, 1, 10, 3, 20, 20, 5, 5};
    matrix.slots[0] = rows * mean;
    matrix.slots[3] = rows * longest;
    matrix.conversion_ns[3] = 4 * rows * longest;
    table.matrices.push_back(matrix);
    table.ns.push_back({4 * rows * mean, 2 * rows * mean, 2 * rows * longest, rows * longest});
  }
  return table;
}

}  // namespace idletune::test
