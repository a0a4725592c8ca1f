#include "tests/bench/krylov_contest/systems.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <utility>

#include "kernels/krylov/matrix_market.hpp"
#include "models/host/history/compression.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

using krylov::SparseMatrix;

System named(std::string name, SparseMatrix matrix) {
  System system{std::move(name), std::move(matrix), {}};
  system.b.resize(static_cast<std::size_t>(system.matrix.pattern.rows));
  for (std::size_t i = 0; i < system.b.size(); ++i) {
    system.b[i] = 1 + 0.1 * static_cast<double>(i * 7 % 13);
  }
  return system;
}

}  // namespace

System from_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::string unpacked;
  const auto text =
      required(gunzip({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                      std::size_t{1} << 28, path, unpacked));
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return named(
      name.substr(0, name.find('.')),
      std::move(required(krylov::read_matrix_market(std::string(text.text), path)).matrix));
}

System grid(std::int32_t side) {
  SparseMatrix matrix;
  matrix.pattern.rows = matrix.pattern.columns = side * side;
  const auto add = [&](std::int32_t column, double value) {
    matrix.pattern.column.push_back(column);
    matrix.values.push_back(value);
  };
  for (std::int32_t row = 0; row < side * side; ++row) {
    if (row >= side) add(row - side, -1);
    if (row % side > 0) add(row - 1, -1);
    add(row, 4.01);
    if (row % side < side - 1) add(row + 1, -1);
    if (row < side * (side - 1)) add(row + side, -1);
    matrix.pattern.row_start.push_back(static_cast<std::int32_t>(matrix.values.size()));
  }
  return named("grid " + std::to_string(side) + " x " + std::to_string(side), std::move(matrix));
}

}  // namespace idletune::bench
