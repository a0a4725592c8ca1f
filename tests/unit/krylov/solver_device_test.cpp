// The solvers on this machine's OpenCL device: against their twin on the host, with every format
// and kernel; what they refuse; what they do where a method cannot go on.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>

#include "kernels/krylov/system_check.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/host_solvers.hpp"
#include "tests/unit/krylov/solver_subject.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;
using test::add_entry;
using test::end_row;
using test::make_solver;
using test::open_subject;
using test::solve;
using test::Solved;
using test::Subject;
using test::Vector;

// Five points on a square grid. `wind` makes it unsymmetric; the diagonal grows along the grid, so
// that Jacobi's preconditioner does something.
SparseMatrix grid(std::int32_t side, double wind = 0) {
  SparseMatrix matrix;
  matrix.pattern.columns = side * side;
  for (std::int32_t row = 0; row < side * side; ++row) {
    if (row >= side) add_entry(matrix, row - side, -1);
    if (row % side > 0) add_entry(matrix, row - 1, -1 - wind);
    add_entry(matrix, row, 4.0 + 0.01 * row);
    if (row % side < side - 1) add_entry(matrix, row + 1, -1 + wind);
    if (row < side * (side - 1)) add_entry(matrix, row + side, -1);
    end_row(matrix);
  }
  return matrix;
}

SparseMatrix diagonal(const Vector& values) {
  SparseMatrix matrix;
  matrix.pattern.columns = static_cast<std::int32_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    add_entry(matrix, static_cast<std::int32_t>(i), values[i]);
    end_row(matrix);
  }
  return matrix;
}

Vector right_hand_side(std::size_t size) {
  Vector b(size);
  for (std::size_t i = 0; i < size; ++i) b[i] = 1 + 0.1 * static_cast<double>(i * 7 % 13);
  return b;
}

std::string refusal(Solver& solver, const Vector& b, const SolveOptions& options = {}) {
  Vector x(b.size());
  const auto report = solver.solve(b, x, options);
  REQUIRE(!report.ok());
  CHECK(report.code() == StatusCode::invalid_argument);
  return report.status().message();
}

void check_history(const Vector& got, const Vector& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(got.size(), 50); ++i) {
    CAPTURE(i);
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-6));
  }
}

// DIA needs two thirds of the bytes.
SparseMatrix seven_diagonals() {
  SparseMatrix band;
  band.pattern.columns = 400;
  for (std::int32_t row = 0; row < 400; ++row) {
    for (std::int32_t column = std::max(0, row - 3); column <= std::min(399, row + 3); ++column) {
      add_entry(band, column, row == column ? 6.1 : -1);
    }
    end_row(band);
  }
  return band;
}

SolverOptions plain(Precision precision = Precision::f64) {
  SolverOptions options;
  options.precision = precision;
  options.choosing = Choosing::none;
  return options;
}

}  // namespace

TEST_CASE("each method's residuals are those of its twin on the host") {
  const Subject subject = open_subject();
  const Vector b = right_hand_side(144);
  for (const bool jacobi : {false, true}) {
    CAPTURE(jacobi);
    SolveOptions options;
    if (jacobi) options.preconditioner = Preconditioner::jacobi;
    options.restart = 100;
    for (const Method method : {Method::cg, Method::bicgstab, Method::gmres}) {
      CAPTURE(static_cast<int>(method));
      const SparseMatrix matrix = grid(12, method == Method::cg ? 0 : 0.3);
      const Vector d = jacobi ? *reciprocal_diagonal(matrix) : Vector(144, 1.0);
      const auto twin = method == Method::cg         ? test::host_cg
                        : method == Method::bicgstab ? test::host_bicgstab
                                                     : test::host_gmres;
      options.method = method;
      Solver solver = make_solver(subject, matrix, plain());
      const Solved solved = solve(solver, b, options);
      CHECK(solved.report.ended == Ended::converged);
      CHECK(solved.report.true_residual < 2e-8);
      check_history(solved.history, twin(matrix, b, d, options.tolerance, 1000));
    }
  }
}

TEST_CASE("GMRES that begins anew converges, and the true residual says so") {
  const Subject subject = open_subject();
  SolveOptions options;
  options.method = Method::gmres;
  options.restart = 7;
  Solver solver = make_solver(subject, grid(12, 0.3), plain());
  const Solved solved = solve(solver, right_hand_side(144), options);
  CHECK(solved.report.ended == Ended::converged);
  CHECK(solved.report.iterations > 7);
  CHECK(solved.report.true_residual < 2e-8);
}

TEST_CASE("every format and kernel gives the host's residuals, whatever is tried meanwhile") {
  const Subject subject = open_subject();
  const SparseMatrix matrix = grid(12);
  const Vector b = right_hand_side(144);
  const Vector expected = test::host_cg(matrix, b, Vector(144, 1.0), 1e-8, 1000);
  for (std::size_t i = 0; i < kSparseFormats; ++i) {
    SolverOptions options;
    options.choosing = Choosing::always;
    options.fixed_format = true;
    options.format = static_cast<SparseFormat>(i);
    CAPTURE(sparse_format_name(options.format));
    Solver solver = make_solver(subject, matrix, options);
    // A few solves, until every kernel has had its turn.
    for (int round = 0; round < 2; ++round) {
      const Solved solved = solve(solver, b);
      CHECK(solved.report.ended == Ended::converged);
      CHECK(solved.report.chosen.format == options.format);
      CHECK(solved.report.chosen.measured_us > 0);
      check_history(solved.history, expected);
    }
  }
}

TEST_CASE("fused steps give the host's residuals, and end as steps apart do") {
  const Subject subject = open_subject();
  const SparseMatrix matrix = grid(12);
  const Vector b = right_hand_side(144);
  for (const bool jacobi : {false, true}) {
    CAPTURE(jacobi);
    SolveOptions options;
    if (jacobi) options.preconditioner = Preconditioner::jacobi;
    const Vector d = jacobi ? *reciprocal_diagonal(matrix) : Vector(144, 1.0);
    const Vector expected = test::host_cg(matrix, b, d, options.tolerance, 1000);
    for (std::size_t i = 0; i < kSparseFormats; ++i) {
      SolverOptions fused = plain();
      fused.steps = Steps::fused;
      fused.fixed_format = true;
      fused.format = static_cast<SparseFormat>(i);
      CAPTURE(sparse_format_name(fused.format));
      Solver solver = make_solver(subject, matrix, fused);
      const Solved solved = solve(solver, b, options);
      CHECK(solved.report.ended == Ended::converged);
      CHECK(solved.report.chosen.fused);
      CHECK(solved.report.true_residual < 2e-8);
      check_history(solved.history, expected);
      // The first products of a solver are measured, with steps apart; then all are fused.
      CHECK(solve(solver, b, options).x == solve(solver, b, options).x);  // bit by bit
      // While kernels are measured steps go apart, from the same x, r and p.
      fused.choosing = Choosing::always;
      Solver choosing = make_solver(subject, matrix, fused);
      for (int round = 0; round < 3; ++round) {
        check_history(solve(choosing, b, options).history, expected);
      }
    }
  }
  SolverOptions fused = plain();
  fused.steps = Steps::fused;
  Solver indefinite = make_solver(subject, diagonal({2, -1, 1}), fused);
  const Solved broken = solve(indefinite, {1, 2, 1});
  CHECK(broken.report.ended == Ended::breakdown);
  CHECK(broken.x == Vector(3, 0.0));
  Solver one_step = make_solver(subject, diagonal({3, 3, 3}), fused);
  CHECK(solve(one_step, {1, 2, 1}).report.iterations == 1);
}

TEST_CASE("the faster steps are found while iterating, with the same residuals") {
  const Subject subject = open_subject();
  const SparseMatrix matrix = grid(12);
  const Vector b = right_hand_side(144);
  SolverOptions options;
  options.choosing = Choosing::always;
  options.fixed_format = true;
  Solver solver = make_solver(subject, matrix, options);
  const Vector expected = test::host_cg(matrix, b, Vector(144, 1.0), 1e-8, 1000);
  for (int round = 0; round < 4; ++round) check_history(solve(solver, b).history, expected);
}

TEST_CASE("single precision converges as far as it goes") {
  const Subject subject = open_subject();
  SolveOptions options;
  options.tolerance = 1e-5;
  Solver solver = make_solver(subject, grid(12), plain(Precision::f32));
  const Solved solved = solve(solver, right_hand_side(144), options);
  CHECK(solved.report.ended == Ended::converged);
  CHECK(solved.report.true_residual < 1e-4);
}

TEST_CASE("a recurrence that converged while the true residual did not has stagnated") {
  const Subject subject = open_subject();
  // Hilbert's matrix: condition 1e16 at twelve rows.
  SparseMatrix hilbert;
  hilbert.pattern.columns = 12;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 12; ++k) add_entry(hilbert, k, 1.0 / (i + k + 1));
    end_row(hilbert);
  }
  SolveOptions options;
  options.tolerance = 1e-9;
  options.max_iterations = 5000;
  Solver solver = make_solver(subject, hilbert, plain(Precision::f32));
  const Solved solved = solve(solver, right_hand_side(12), options);
  CHECK(solved.report.ended != Ended::converged);
  CHECK(solved.report.true_residual > 1e-8);
  if (solved.report.ended == Ended::stagnated) {
    CHECK(solved.report.residual <= 1e-9);
    CHECK(solved.report.reason.find("true residual") != std::string::npos);
  }
}

TEST_CASE("refined single precision reaches what double precision does, by every method") {
  const Subject subject = open_subject();
  const Vector b = right_hand_side(144);
  for (const Method method : {Method::cg, Method::bicgstab, Method::gmres}) {
    CAPTURE(static_cast<int>(method));
    SolveOptions options;
    options.method = method;
    options.tolerance = 1e-12;
    Solver solver =
        make_solver(subject, grid(12, method == Method::cg ? 0 : 0.3), plain(Precision::mixed));
    const Solved solved = solve(solver, b, options);
    CHECK(solved.report.ended == Ended::converged);
    CHECK(solved.report.refinements >= 2);
    CHECK(solved.report.true_residual <= 1e-12);
    CHECK(solved.history.size() == solved.report.iterations + 1);
    CHECK(solved.history.back() < 1e-11);
    // From there nothing is left to do.
    Vector x = solved.x;
    const auto again = solver.solve(b, x, options);
    REQUIRE(again.ok());
    CHECK(again->iterations == 0);
    CHECK(x == solved.x);
    options.max_iterations = 5;
    CHECK(solve(solver, b, options).report.ended == Ended::limit_reached);
  }
  // What single precision cannot hold is what it corrects no further, and x stays the best one.
  SparseMatrix hilbert;
  hilbert.pattern.columns = 12;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 12; ++k) add_entry(hilbert, k, 1.0 / (i + k + 1));
    end_row(hilbert);
  }
  SolveOptions options;
  options.tolerance = 1e-15;
  Solver solver = make_solver(subject, hilbert, plain(Precision::mixed));
  const Solved solved = solve(solver, right_hand_side(12), options);
  CHECK(solved.report.ended != Ended::converged);
  CHECK(solved.report.true_residual <= 1);
}

TEST_CASE("b of zeros and an exact x end before the first iteration") {
  const Subject subject = open_subject();
  const SparseMatrix matrix = grid(5);
  Solver solver = make_solver(subject, matrix, plain());
  for (const Method method : {Method::cg, Method::bicgstab, Method::gmres}) {
    SolveOptions options;
    options.method = method;
    Vector x(25, 3.0);
    auto report = solver.solve(Vector(25, 0.0), x, options);
    REQUIRE(report.ok());
    CHECK(report->ended == Ended::converged);
    CHECK(report->iterations == 0);
    CHECK(report->true_residual == 0);
    CHECK(x == Vector(25, 0.0));
    const Vector exact(25, 0.5);
    x = exact;
    report = solver.solve(test::times(matrix, exact), x, options);
    REQUIRE(report.ok());
    CHECK(report->ended == Ended::converged);
    CHECK(report->iterations == 0);
    CHECK(x == exact);
  }
}

TEST_CASE("a matrix that is not positive definite ends CG with the last good x") {
  const Subject subject = open_subject();
  Solver solver = make_solver(subject, diagonal({2, -1, 1}), plain());
  const Solved solved = solve(solver, {1, 2, 1});
  CHECK(solved.report.ended == Ended::breakdown);
  CHECK(solved.report.reason.find("iteration 1") != std::string::npos);
  CHECK(solved.x == Vector(3, 0.0));
  // BiCGStab and GMRES take it.
  for (const Method method : {Method::bicgstab, Method::gmres}) {
    SolveOptions options;
    options.method = method;
    CHECK(solve(solver, {1, 2, 1}, options).report.ended == Ended::converged);
  }
}

TEST_CASE("breakdowns of the other methods are told, and no number of x is lost") {
  const Subject subject = open_subject();
  // A rotation by a right angle: A r is orthogonal to r.
  const SparseMatrix rotation = {{2, 2, {0, 1, 2}, {1, 0}}, {-1, 1}};
  SolveOptions options;
  options.method = Method::bicgstab;
  Solver turning = make_solver(subject, rotation, plain());
  Solved solved = solve(turning, {1, 0}, options);
  CHECK(solved.report.ended == Ended::breakdown);
  CHECK(solved.report.reason.find("orthogonal") != std::string::npos);
  CHECK(solved.x == Vector{0, 0});
  // A row of zeros: nothing reaches its number of b.
  const SparseMatrix singular = {{2, 2, {0, 1, 1}, {0}}, {1}};
  options.method = Method::gmres;
  Solver stuck = make_solver(subject, singular, plain());
  solved = solve(stuck, {0, 1}, options);
  CHECK(solved.report.ended == Ended::breakdown);
  CHECK(solved.x == Vector{0, 0});
}

TEST_CASE("the limit of iterations and overflow are told") {
  const Subject subject = open_subject();
  SolveOptions options;
  options.max_iterations = 3;
  Solver solver = make_solver(subject, grid(12), plain());
  Solved solved = solve(solver, right_hand_side(144), options);
  CHECK(solved.report.ended == Ended::limit_reached);
  CHECK(solved.report.iterations == 3);
  CHECK(solved.report.true_residual == doctest::Approx(solved.report.residual));
  Solver large = make_solver(subject, diagonal({1e-300, 2e-300}), plain());
  solved = solve(large, {1e30, 1e30});
  CHECK(solved.report.ended == Ended::overflow);
  for (const double number : solved.x) CHECK(std::isfinite(number));
}

TEST_CASE("what cannot be solved is refused before anything is done, in one line") {
  const Subject subject = open_subject();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  SolveOptions jacobi;
  jacobi.preconditioner = Preconditioner::jacobi;
  SolveOptions any;
  any.method = Method::bicgstab;
  Solver wind = make_solver(subject, grid(3, 0.5), plain());
  CHECK(refusal(wind, Vector(9, 1.0)).find("BiCGStab") != std::string::npos);
  CHECK(refusal(wind, Vector(8, 1.0)).find("expected 9") != std::string::npos);
  CHECK(refusal(wind, {1, 2, 3, nan, 5, 6, 7, 8, 9}, any).find("b, row 3") == 0);
  const SparseMatrix wide = {{1, 2, {0, 2}, {0, 1}}, {1, 2}};
  Solver not_square = make_solver(subject, wide, plain());
  CHECK(refusal(not_square, {1}, any).find("only products take it") != std::string::npos);
  Solver zero = make_solver(subject, diagonal({1, 0, 2}), plain());
  CHECK(refusal(zero, {1, 1, 1}, jacobi).find("row 1: the diagonal's entry is 0") == 0);
  const SparseMatrix rotation = {{2, 2, {0, 1, 2}, {1, 0}}, {1, 1}};
  Solver missing = make_solver(subject, rotation, plain());
  CHECK(refusal(missing, {1, 1}, jacobi).find("row 0: the diagonal's entry is missing") == 0);
  Vector x(9, std::numeric_limits<double>::infinity());
  CHECK(wind.solve(Vector(9, 1.0), x, any).status().message().find("x, row 0") == 0);
  const auto refused = [&](const SparseMatrix& matrix, Precision precision) {
    return Solver::make(*subject.device, *subject.queue, matrix, plain(precision))
        .status()
        .message();
  };
  CHECK(refused(diagonal({1, nan}), Precision::f64).find("matrix, row 1, column 1") == 0);
  CHECK(refused(diagonal({1, 1e39}), Precision::f32).find("single precision") != std::string::npos);
  CHECK(refused({{2, 2, {0, 1, 1}, {5}}, {1}}, Precision::f64).find("row 0: column 5") == 0);
}

TEST_CASE("new values in the same structure are as good as a new solver") {
  const Subject subject = open_subject();
  const SparseMatrix first = grid(9);
  SparseMatrix second = first;
  for (double& value : second.values) value *= 1.5;
  for (std::size_t i = 0; i < kSparseFormats; ++i) {
    SolverOptions options = plain();
    options.fixed_format = true;
    options.format = static_cast<SparseFormat>(i);
    CAPTURE(sparse_format_name(options.format));
    Solver changed = make_solver(subject, first, options);
    const Vector b = right_hand_side(81);
    const Vector before = solve(changed, b).x;
    REQUIRE(changed.set_values(second.values).ok());
    Solver fresh = make_solver(subject, second, options);
    const Vector after = solve(changed, b).x;
    CHECK(after == solve(fresh, b).x);  // bit by bit
    CHECK(after != before);
    CHECK(changed.set_values(Vector(3, 1.0)).code() == StatusCode::invalid_argument);
    CHECK(solve(changed, b).x == after);
  }
}

TEST_CASE("a switch to another format between two iterations changes rounding only") {
  const Subject subject = open_subject();
  const SparseMatrix band = seven_diagonals();
  SolverOptions options;
  options.choosing = Choosing::always;
  SolveOptions exact;
  exact.tolerance = 1e-10;
  exact.solves_to_come = 10;
  const Vector b = right_hand_side(400);
  Solver still = make_solver(subject, band, plain());
  Solver choosing = make_solver(subject, band, options);
  const Solved expected = solve(still, b, exact);
  CHECK(expected.report.conversion.verdict == Conversion::Verdict::keep);
  Solved solved;
  for (int round = 0; round < 8; ++round) {
    solved = solve(choosing, b, exact);
    check_history(solved.history, expected.history);
  }
  const Conversion& conversion = solved.report.conversion;
  CHECK(conversion.verdict != Conversion::Verdict::keep);  // kept, or taken back if it was slower
  CHECK(conversion.at_iteration > 0);
  CHECK(conversion.cost_ms > 0);
  CHECK(!conversion.reason.empty());
}

TEST_CASE("an iteration of BiCGStab counts as the two products that it has") {
  const Subject subject = open_subject();
  SolverOptions options;
  options.choosing = Choosing::always;
  Solver solver = make_solver(subject, seven_diagonals(), options);
  SolveOptions few;
  few.method = Method::bicgstab;
  few.max_iterations = 5;
  few.solves_to_come = 1000;
  for (int i = 0; i < 50 && solver.conversion().left_low == 0; ++i)
    (void)solve(solver, right_hand_side(400), few);
  CHECK(solver.conversion().left_low >= 1000 * 5);  // half of which are reckoned with
}

TEST_CASE("a format without room leaves the matrix in its rows") {
  const Subject subject = open_subject();
  SolverOptions options = plain();
  options.fixed_format = true;
  options.format = SparseFormat::dia;
  options.format_limit_bytes = 100;
  Solver solver = make_solver(subject, grid(9), options);
  const Solved solved = solve(solver, right_hand_side(81));
  CHECK(solved.report.ended == Ended::converged);
  CHECK(solved.report.chosen.format == SparseFormat::csr);
  CHECK(solved.report.conversion.reason.find("CSR is used") != std::string::npos);
}

TEST_CASE("products of matrices that are not square") {
  const Subject subject = open_subject();
  const SparseMatrix wide = {{2, 3, {0, 2, 3}, {0, 2, 1}}, {1, 2, 3}};
  for (std::size_t i = 0; i < kSparseFormats; ++i) {
    SolverOptions options = plain();
    options.fixed_format = true;
    options.format = static_cast<SparseFormat>(i);
    CAPTURE(sparse_format_name(options.format));
    Solver solver = make_solver(subject, wide, options);
    Vector y(2);
    REQUIRE(solver.multiply(Vector{1, 10, 100}, y).ok());
    CHECK(y == Vector{201, 30});
    CHECK(solver.multiply(Vector{1, 10}, y).code() == StatusCode::invalid_argument);
  }
}
