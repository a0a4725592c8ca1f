// The matrices of the SuiteSparse collection that are there where the recorded data is.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/krylov/sparse_matrix.hpp"
#include "models/host/history/compression.hpp"
#include "tests/unit/krylov/matrices.hpp"

namespace idletune::test {

// Ends with a slash; empty where there is none.
inline std::string collected_matrices() {
  const char* shared = std::getenv("IDLETUNE_SHARED");
  const std::string folder = std::string(shared != nullptr ? shared : "") + "/data/matrices/";
  return shared != nullptr && std::filesystem::exists(folder) ? folder : std::string();
}

inline krylov::MatrixMarket read_collected(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::string unpacked;
  const auto text = gunzip({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                           std::size_t{1} << 28, path, unpacked);
  REQUIRE(text.ok());
  return read_good(std::string(text->text), path);
}

struct System {
  krylov::SparseMatrix matrix;
  std::vector<double> b;  // the sums of the rows, so that x is all ones
};

inline System collected_system(const std::string& path) {
  System system{read_collected(path).matrix, {}};
  system.b.resize(static_cast<std::size_t>(system.matrix.pattern.rows));
  krylov::multiply(system.matrix.pattern, system.matrix.values,
                   std::vector<double>(system.b.size(), 1.0), system.b);
  return system;
}

}  // namespace idletune::test
