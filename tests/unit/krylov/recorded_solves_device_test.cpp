// The solvers on collected matrices: as many iterations as were recorded of them by another
// program, and what single precision makes of ill-conditioned ones.
#include <doctest/doctest.h>

#include <algorithm>
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
// `unit`: what b is multiplied by.
SolveReport solve(const Subject& subject, const std::string& path, Precision precision,
                  double unit = 1) {
  test::System system = test::collected_system(path);
  for (double& number : system.b) number *= unit;
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

// Rounding b - A x to single precision is all that the unit of b can change.
TEST_CASE("refined iterations depend on the unit of b by rounding alone" *
          doctest::test_suite("recorded data")) {
  const std::string folder = test::collected_matrices();
  if (folder.empty()) return test::skip("no recorded matrices (IDLETUNE_SHARED)");
  const Subject subject = open_subject();
  for (const char* name : {"1138_bus", "bcsstk08", "bcsstk10", "bcsstk26", "ex13", "nasa2910"}) {
    CAPTURE(name);
    const std::string path = folder + "spd/" + name + ".mtx.gz";
    const auto iterations = [&](double unit) {
      return solve(subject, path, Precision::mixed, unit).iterations;
    };
    const auto usual = iterations(1);
    CHECK(iterations(0x1p-40) == usual);
    auto least = usual, most = usual;
    for (const double unit : {1.1, 1.3, 1.5, 1.7, 1.9}) {
      const auto here = iterations(unit);
      least = std::min(least, here), most = std::max(most, here);
    }
    MESSAGE("figure: " << std::string(name) << " " << usual << " iterations, " << least << " to "
                       << most << " in other units");
    CHECK(most < 2 * usual);  // one more refinement
  }
}
