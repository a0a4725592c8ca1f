// What explorations of products on sparse matrices say, side by side: matrices x candidates. Host
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/product_times.hpp>

#include "models/host/history/history.hpp"

namespace idletune::sparse {

// In the order of krylov::SparseFormat.
inline constexpr const char* kFormatNames[] = {"CSR", "COO", "DIA", "ELL", "HYB", "SELL"};
inline constexpr std::size_t kFormats = 6;

struct Matrix {
  std::string name;
  std::string family;                   // of a made-up one; else its name: what is left out with it
  std::vector<double> features;         // kMatrixFeatures
  double slots[kFormats] = {};          // 0: not stored in this format
  double conversion_ns[kFormats] = {};  // 0: not known
  double operations() const { return 2 * features[1]; }  // of a product
};

// Of one device and size of numbers.
struct Table {
  std::string device;
  std::size_t number_bytes = 0;
  std::vector<ProductCandidate> candidates;
  std::vector<Matrix> matrices;
  // By matrix and candidate; 0: not measured, or failed. Where candidates took turns the median of
  // their samples, else the smallest: what was measured in a row had one moment's luck. Of repeats
  // the smallest counts.
  std::vector<std::vector<double>> ns;
  // The same of every other sample and of the rest; as `ns` where there are fewer than four.
  std::vector<std::vector<double>> half_ns[2];

  ProductInputs inputs(std::size_t matrix, std::size_t format) const {
    return product_inputs(matrices[matrix].features, matrices[matrix].slots[format]);
  }
  // Of the measured candidates of a matrix, also of one format or kernel alone; 0: there is none.
  double best_ns(std::size_t matrix) const;
  double best_ns(std::size_t matrix, std::uint8_t format) const;
  double best_ns(std::size_t matrix, std::uint8_t format, std::uint8_t kernel) const;
};

// Of the histories with a note on a matrix (see `explore --problem`); the others are not looked at.
// One table for each device and size of numbers, in the order of the first history of each.
std::vector<Table> tables_of(const std::vector<const History*>& histories);

// Of the sums of vectors and the inner products: a row per length and configuration.
struct VectorRow {
  double length = 0;
  std::vector<double> kernel;  // which one, as 0 and 1
  double work_group = 0;
  double ns = 0;
};
struct VectorTable {
  std::string kernel;
  std::string device;
  std::vector<VectorRow> rows;
};
std::vector<VectorTable> vector_tables_of(const std::vector<const History*>& histories);

}  // namespace idletune::sparse
