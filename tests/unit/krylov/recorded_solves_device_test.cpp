// The solvers on collected matrices: as many iterations as were recorded of them by another
// program, and what single precision makes of ill-conditioned ones.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>

#include "tests/unit/krylov/collected_matrices.hpp"
#include "tests/unit/krylov/solver_subject.hpp"
#include "tests/unit/skip.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;
using test::open_subject;
using test::Subject;

// By column titles, a row per matrix.
std::vector<std::map<std::string, std::string>> table_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> titles;
  std::vector<std::map<std::string, std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::size_t column = 0;
    const bool first = titles.empty();
    if (!first) rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t'); ++column) {
      if (first) {
        titles.push_back(cell);
      } else {
        rows.back()[titles.at(column)] = cell;
      }
    }
  }
  return rows;
}

// Jacobi's preconditioner, b of the rows' sums, to 1e-6: as the recorded figures were made.
SolveReport solve(const Subject& subject, const std::string& path, Precision precision) {
  const test::System system = test::collected_system(path);
  SolverOptions options;
  options.precision = precision;
  options.choosing = Choosing::none;
  Solver solver = test::make_solver(subject, system.matrix, options);
  SolveOptions how;
  how.preconditioner = Preconditioner::jacobi;
  how.tolerance = 1e-6;
  return test::solve(solver, system.b, how).report;
}

}  // namespace

TEST_CASE("CG with Jacobi's preconditioner takes as many iterations as were recorded" *
          doctest::test_suite("recorded data")) {
  const std::string folder = test::collected_matrices();
  if (folder.empty()) return test::skip("no recorded matrices (IDLETUNE_SHARED)");
  const Subject subject = open_subject();
  int compared = 0;
  for (auto& row : table_of(folder + "spd/MANIFEST.tsv")) {
    const double recorded = std::strtod(row["jacobi_pcg_iters_1e-6"].c_str(), nullptr);
    const bool diagonal = row["nnz_full_structural"] == row["rows"];
    // The four that are too ill-conditioned depend on rounding; long ones take long.
    if (diagonal || recorded > 1000 ||
        std::strtod(row["cond2_jacobi_scaled"].c_str(), nullptr) >= 1e9) {
      continue;
    }
    CAPTURE(row["name"]);
    const auto report = solve(subject, folder + "spd/" + row["name"] + ".mtx.gz", Precision::f64);
    CHECK(report.ended == Ended::converged);
    CHECK(std::fabs(report.iterations - recorded) <= 0.05 * recorded);
    ++compared;
  }
  CHECK(compared == 12);
}

TEST_CASE("single precision stagnates on ill-conditioned matrices and says so" *
          doctest::test_suite("recorded data")) {
  const std::string folder = test::collected_matrices();
  if (folder.empty()) return test::skip("no recorded matrices (IDLETUNE_SHARED)");
  const Subject subject = open_subject();
  for (const char* name : {"ex3", "ex10", "ex10hs", "ex13"}) {
    CAPTURE(name);
    const auto report = solve(subject, folder + "spd/" + name + ".mtx.gz", Precision::f32);
    CHECK(report.ended == Ended::stagnated);
    CHECK(report.residual <= 1e-6);
    CHECK(report.true_residual > 1e-6);
  }
}

TEST_CASE("single precision refined in double converges where single precision stagnates" *
          doctest::test_suite("recorded data")) {
  const std::string folder = test::collected_matrices();
  if (folder.empty()) return test::skip("no recorded matrices (IDLETUNE_SHARED)");
  const Subject subject = open_subject();
  for (const char* name : {"ex3", "ex10", "ex10hs", "ex13"}) {
    CAPTURE(name);
    const auto report = solve(subject, folder + "spd/" + name + ".mtx.gz", Precision::mixed);
    CHECK(report.ended == Ended::converged);
    CHECK(report.true_residual <= 1e-6);
    CHECK(report.refinements > 1);
  }
}
