// The solvers beside those of another library: residual after residual in every format, and to an
// end wherever the other one comes to an end.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>

#include "tests/unit/krylov/collected_matrices.hpp"
#include "tests/unit/krylov/solver_subject.hpp"
#include "tests/unit/skip.hpp"

#ifdef IDLETUNE_WITH_EIGEN
#include <Eigen/Sparse>
#include <unsupported/Eigen/IterativeSolvers>

namespace {

using namespace idletune;
using namespace idletune::krylov;
using test::collected_system;
using test::open_subject;
using test::Solved;
using test::Subject;
using test::System;
using Vector = std::vector<double>;
using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

EigenMatrix in_eigen(const SparseMatrix& matrix) {
  const SparsityPattern& pattern = matrix.pattern;
  return Eigen::Map<const EigenMatrix>(
      pattern.rows, pattern.columns, static_cast<Eigen::Index>(pattern.entries()),
      pattern.row_start.data(), pattern.column.data(), matrix.values.data());
}

template <class EigenSolver>
double residual_after(EigenSolver& solver, const Vector& b, Eigen::Index iterations) {
  solver.setMaxIterations(iterations);
  const Eigen::VectorXd x = solver.solve(
      Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(b.size())));
  (void)x;
  return solver.error();
}

Solved solve(const Subject& subject, const System& system, const SolverOptions& options,
             const SolveOptions& how) {
  Solver solver = test::make_solver(subject, system.matrix, options);
  return test::solve(solver, system.b, how);
}

constexpr std::size_t kCompared = 50;

}  // namespace

TEST_CASE("the first residuals of CG in every format and kernel are those of Eigen" *
          doctest::test_suite("recorded data")) {
  const std::string folder = test::collected_matrices();
  if (folder.empty()) return test::skip("no recorded matrices (IDLETUNE_SHARED)");
  const Subject subject = open_subject();
  for (const char* name : {"1138_bus", "nasa2910", "vem2"}) {
    CAPTURE(name);
    const System system = collected_system(folder + "spd/" + name + ".mtx.gz");
    const EigenMatrix theirs = in_eigen(system.matrix);
    Eigen::ConjugateGradient<EigenMatrix, Eigen::Lower | Eigen::Upper> eigen(theirs);
    eigen.setTolerance(1e-14);
    Vector expected{1};
    for (std::size_t i = 1; i <= kCompared; ++i) {
      expected.push_back(residual_after(eigen, system.b, static_cast<Eigen::Index>(i)));
    }
    for (std::size_t format = 0; format < kSparseFormats; ++format) {
      for (const Steps steps : {Steps::faster, Steps::apart, Steps::fused}) {
        SolverOptions options;
        options.choosing = steps == Steps::faster ? Choosing::always : Choosing::none;
        options.steps = steps;
        options.fixed_format = true;
        options.format = static_cast<SparseFormat>(format);
        CAPTURE(sparse_format_name(options.format));
        SolveOptions how;
        how.preconditioner = Preconditioner::jacobi;
        how.tolerance = 1e-14;
        how.max_iterations = kCompared;
        const Solved solved = solve(subject, system, options, how);
        REQUIRE(solved.history.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          CAPTURE(i);
          CHECK(solved.history[i] == doctest::Approx(expected[i]).epsilon(1e-6));
        }
      }
    }
  }
}

TEST_CASE("where Eigen's BiCGSTAB or GMRES converges, so do ours" *
          doctest::test_suite("recorded data")) {
  const std::string folder = test::collected_matrices();
  if (folder.empty()) return test::skip("no recorded matrices (IDLETUNE_SHARED)");
  const Subject subject = open_subject();
  constexpr double kTolerance = 1e-6;
  constexpr std::uint32_t kLimit = 400;
  int both = 0;
  for (const char* name :
       {"general/epb0", "general/epb1", "general/fidap007", "general/bcspwr10", "general/cryg2500",
        "spd/1138_bus", "spd/bcsstk21", "spd/Chem97ZtZ", "spd/ex3", "spd/vem1"}) {
    CAPTURE(name);
    const System system = collected_system(folder + name + ".mtx.gz");
    const EigenMatrix theirs = in_eigen(system.matrix);
    for (const bool restarts : {false, true}) {
      CAPTURE(restarts);
      Eigen::BiCGSTAB<EigenMatrix> bicgstab(theirs);
      Eigen::GMRES<EigenMatrix> gmres(theirs);
      bicgstab.setTolerance(kTolerance);
      gmres.setTolerance(kTolerance);
      gmres.set_restart(30);
      const double error = restarts ? residual_after(gmres, system.b, kLimit)
                                    : residual_after(bicgstab, system.b, kLimit);
      if (!(error <= kTolerance)) continue;
      ++both;
      SolverOptions options;
      options.choosing = Choosing::none;
      SolveOptions how;
      how.method = restarts ? Method::gmres : Method::bicgstab;
      how.preconditioner = Preconditioner::jacobi;
      how.tolerance = kTolerance;
      how.max_iterations = 2 * kLimit;  // their ways part by rounding
      const Solved solved = solve(subject, system, options, how);
      CAPTURE(solved.report.reason);
      CHECK(solved.report.ended == Ended::converged);
    }
  }
  CHECK(both >= 8);
}

TEST_CASE("equal choices give equal bits" * doctest::test_suite("recorded data")) {
  const std::string folder = test::collected_matrices();
  if (folder.empty()) return test::skip("no recorded matrices (IDLETUNE_SHARED)");
  const Subject subject = open_subject();
  const System system = collected_system(folder + "spd/vem1.mtx.gz");
  for (std::size_t format = 0; format < kSparseFormats; ++format) {
    SolverOptions options;
    options.choosing = Choosing::none;
    options.fixed_format = true;
    options.format = static_cast<SparseFormat>(format);
    CAPTURE(sparse_format_name(options.format));
    const Solved first = solve(subject, system, options, {});
    const Solved again = solve(subject, system, options, {});
    CHECK(first.report.ended == Ended::converged);
    CHECK(first.history == again.history);
    CHECK(first.x == again.x);
  }
}
#else
TEST_CASE("the solvers go as those of Eigen go" * doctest::test_suite("recorded data")) {
  idletune::test::skip("built without Eigen (libeigen3-dev)");
}
#endif
