// Products alone: what choosing makes of them, and what they leave behind however they end.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <idletune/krylov.hpp>

#include "tests/unit/forwarding_devices.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/solver_subject.hpp"

using namespace idletune;
using namespace idletune::krylov;

namespace {

// Each row's entry and the one behind it.
SparseMatrix pairs(std::int32_t rows) {
  SparseMatrix matrix;
  matrix.pattern.columns = rows;
  for (std::int32_t row = 0; row < rows; ++row) {
    test::add_entry(matrix, row, 2);
    if (row + 1 < rows) test::add_entry(matrix, row + 1, -1);
    test::end_row(matrix);
  }
  return matrix;
}

}  // namespace

TEST_CASE("where products come for ever other kernels are tried") {
  const test::Subject subject = test::open_subject();
  test::MisreadingDevice device(*subject.device, "REAL", "REAL");  // counts what it compiles
  auto solver = krylov::Solver::make(device, *subject.queue, pairs(500), {});
  REQUIRE(solver.ok());
  std::vector<double> y(500);
  for (int i = 0; i < 100; ++i)
    REQUIRE(solver->multiply(std::vector<double>(500, 1.0), y, HUGE_VAL).ok());
  CHECK(device.misread > 1);
}
