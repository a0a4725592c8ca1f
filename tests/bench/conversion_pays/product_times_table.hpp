// Recorded times of products with matrices in every format, kernel and work group, and of what has
// to be done before a product runs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>

#include "kernels/krylov/device_kernels.hpp"

namespace idletune::bench {

struct TimedKernel {
  krylov::SparseFormat format = krylov::SparseFormat::csr;
  krylov::KernelVariant variant;
  double us = 0;        // of a product
  double other_us = 0;  // the same in other turns; where they were not told apart, as `us`
  double cold_us = 0;   // of programs: compilation and what the first run takes longer
  double warm_us = 0;   // the same where the driver has compiled it before
};

struct TimedFormat {
  std::uint64_t bytes = 0;
  double put_us = 0;  // conversion and upload; 0: it has no room
};

struct TimedMatrix {
  std::string name;
  std::int32_t rows = 0;
  std::uint64_t entries = 0;
  double check_us = 0;  // of a product, by the rows on the host
  double sizes_us = 0;  // of all formats
  std::array<TimedFormat, krylov::kSparseFormats> formats;
  std::vector<TimedKernel> products;
};

struct ProductTimesTable {
  std::vector<TimedKernel> programs;
  std::vector<TimedMatrix> matrices;
};

// Throws std::runtime_error, naming the line.
ProductTimesTable read_times(const std::string& path);
void print_program(const TimedKernel& program);
void print_matrix(const TimedMatrix& matrix);

// Measures with double precision on the first OpenCL device, all kernels of a matrix in turns, and
// prints a table. Files of the Matrix Market, folders of them, or FAMILY:ROWS:SEED. Throws
// std::runtime_error.
void record_products(const std::vector<std::string>& matrices);
// So many of the latter, all families in turn.
std::vector<std::string> drawn_matrices(std::size_t count, std::uint64_t seed);

}  // namespace idletune::bench
