// What must hold for any system: other units of A and b, another order of its rows, another x to
// begin with.
#include <doctest/doctest.h>

#include "tests/unit/skip.hpp"

#ifdef IDLETUNE_WITH_RAPIDCHECK
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels/krylov/host_system.hpp"
#include "kernels/krylov/matrix_market.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/solver_subject.hpp"
#include "tests/unit/relations.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;
using test::make_solver;
using Vector = std::vector<double>;
using Dense = std::vector<Vector>;

SparseMatrix sparse(const Dense& dense) {
  SparseMatrix matrix;
  matrix.pattern.columns = static_cast<std::int32_t>(dense.size());
  for (const Vector& row : dense) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (row[column] != 0) test::add_entry(matrix, static_cast<std::int32_t>(column), row[column]);
    }
    test::end_row(matrix);
  }
  return matrix;
}

// By way of a file, whose entries stand in the order of the other matrix.
SparseMatrix transposed(const SparseMatrix& matrix) {
  const SparsityPattern& pattern = matrix.pattern;
  std::string text = "%%MatrixMarket matrix coordinate real general\n" +
                     std::to_string(pattern.columns) + " " + std::to_string(pattern.rows) + " " +
                     std::to_string(pattern.entries()) + "\n";
  for (std::int32_t row = 0; row < pattern.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    for (auto k = pattern.row_start[at]; k < pattern.row_start[at + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      text += std::to_string(pattern.column[entry] + 1) + " " + std::to_string(row + 1) + " " +
              std::to_string(matrix.values[entry]) + "\n";
    }
  }
  auto read = read_matrix_market(text, "transposed");
  REQUIRE_MESSAGE(read.ok(), read.status().to_string());
  return std::move(read->matrix);
}

struct System {
  Dense a;
  Vector b;
};

// Symmetric, each diagonal entry above the sum of its row.
System drawn() {
  const auto size = static_cast<std::size_t>(*rc::gen::inRange(1, 30));
  System system{Dense(size, Vector(size)), Vector(size)};
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (*rc::gen::inRange(0, 4) == 0)
        system.a[i][k] = system.a[k][i] = *rc::gen::inRange(-9, 10) / 4.0;
    }
    system.b[i] = *rc::gen::inRange(-20, 21);
  }
  for (std::size_t i = 0; i < size; ++i) {
    system.a[i][i] = 1;
    for (std::size_t k = 0; k < size; ++k) system.a[i][i] += k == i ? 0 : std::fabs(system.a[i][k]);
  }
  return system;
}

bool near(const Vector& x, const Vector& y, double factor, double share) {
  double largest = 0;
  for (const double number : y) largest = std::max(largest, std::fabs(number));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::fabs(x[i] * factor - y[i]) <= share * largest)) return false;
  }
  return true;
}

struct Way {
  Precision precision;
  Method method;
  Steps steps;
  double tolerance() const { return precision == Precision::f32 ? 1e-5 : 1e-9; }
};

Way any_way() {
  return {*rc::gen::element(Precision::f64, Precision::f32, Precision::mixed),
          *rc::gen::element(Method::cg, Method::bicgstab, Method::gmres),
          *rc::gen::element(Steps::apart, Steps::fused)};
}

test::Solved solved(const test::Subject& subject, const System& system, const Way& way) {
  SolverOptions options;
  options.precision = way.precision;
  options.choosing = Choosing::none;
  options.steps = way.steps;
  Solver solver = make_solver(subject, sparse(system.a), options);
  SolveOptions how;
  how.method = way.method;
  how.tolerance = way.tolerance();
  return test::solve(solver, system.b, how);
}

}  // namespace

TEST_CASE("other units of a system change x by as much, and neither steps nor verdict" *
          doctest::test_suite("RapidCheck")) {
  const test::Subject subject = test::open_subject();
  test::check_relation("powers of ten", [&] {
    const System system = drawn();
    const Way way = any_way();
    const bool wide = way.precision == Precision::f64;
    const int of_a = *rc::gen::inRange(wide ? -150 : -30, wide ? 150 : 30);
    const int of_b = *rc::gen::inRange(wide ? -150 : -35, wide ? 150 : 35);
    System other = system;
    for (Vector& row : other.a) {
      for (double& number : row) number *= std::pow(10, of_a);
    }
    for (double& number : other.b) number *= std::pow(10, of_b);
    const test::Solved expected = solved(subject, system, way);
    const test::Solved found = solved(subject, other, way);
    RC_ASSERT(expected.report.ended == Ended::converged);
    RC_ASSERT(found.report.ended == Ended::converged);
    RC_ASSERT(std::abs(static_cast<int>(found.report.iterations) -
                       static_cast<int>(expected.report.iterations)) <=
              2 + static_cast<int>(expected.report.iterations) / 5);
    RC_ASSERT(near(found.x, expected.x, std::pow(10, of_a - of_b), 100 * way.tolerance()));
  });
}

TEST_CASE("another order of rows and columns changes the order of x" *
          doctest::test_suite("RapidCheck")) {
  const test::Subject subject = test::open_subject();
  test::check_relation("permuted", [&] {
    const System system = drawn();
    const Way way = any_way();
    const std::size_t size = system.b.size();
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = size; i-- > 1;) {
      std::swap(order[i],
                order[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(i) + 1))]);
    }
    System other{Dense(size, Vector(size)), Vector(size)};
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < size; ++k) other.a[i][k] = system.a[order[i]][order[k]];
      other.b[i] = system.b[order[i]];
    }
    const test::Solved expected = solved(subject, system, way);
    const test::Solved found = solved(subject, other, way);
    RC_ASSERT(found.report.ended == expected.report.ended);
    Vector in_order(size);
    for (std::size_t i = 0; i < size; ++i) in_order[order[i]] = found.x[i];
    RC_ASSERT(near(in_order, expected.x, 1, 100 * way.tolerance()));
  });
}

TEST_CASE("a matrix that was transposed twice is solved in the same steps to the same x" *
          doctest::test_suite("RapidCheck")) {
  const test::Subject subject = test::open_subject();
  test::check_relation("transposed twice", [&] {
    System system = drawn();
    for (Vector& row : system.a) row.back() += *rc::gen::element(0.0, 0.0, 0.125);
    const SparseMatrix matrix = sparse(system.a), other = transposed(matrix);
    const SparseMatrix again = transposed(other);
    // b . (A b) = (A^T b) . b, exactly: few bits are needed.
    const auto form = [&](const SparseMatrix& factor) {
      Vector y(system.b.size());
      multiply(factor.pattern, factor.values, system.b, y);
      return std::inner_product(y.begin(), y.end(), system.b.begin(), 0.0);
    };
    RC_ASSERT(form(matrix) == form(other));
    if (*rc::gen::weightedElement<bool>({{9, true}, {1, false}}))
      return;  // a solver takes long to make
    SolverOptions options;
    options.precision = any_way().precision;
    options.choosing = Choosing::none;
    options.fixed_format = true;
    options.format = static_cast<SparseFormat>(*rc::gen::inRange(0, int{kSparseFormats}));
    SolveOptions how;
    how.method = *rc::gen::element(Method::bicgstab, Method::gmres);
    Solver plain = make_solver(subject, matrix, options);
    Solver twice = make_solver(subject, again, options);
    const test::Solved expected = test::solve(plain, system.b, how);
    const test::Solved found = test::solve(twice, system.b, how);
    RC_ASSERT(found.report.ended == expected.report.ended);
    RC_ASSERT(found.report.iterations == expected.report.iterations);
    RC_ASSERT(found.x == expected.x);
  });
}

TEST_CASE("from any x a solve ends no farther from the solution than it began" *
          doctest::test_suite("RapidCheck")) {
  const test::Subject subject = test::open_subject();
  test::check_relation("never worse", [&] {
    System system = drawn();
    // Anything may have become of the numbers.
    const auto hit =
        static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(system.b.size())));
    const double factor = *rc::gen::element(1.0, 0.0, -1.0, 1e-30, 1e30);
    for (double& number : system.a[hit]) number *= factor;
    Way way = any_way();
    if (way.method == Method::cg) way.method = Method::gmres;
    SolverOptions options;
    options.precision = way.precision;
    options.choosing = Choosing::none;
    const SparseMatrix matrix = sparse(system.a);
    Solver solver = make_solver(subject, matrix, options);
    Vector x(system.b.size());
    for (double& number : x) number = *rc::gen::inRange(-3, 4);
    const auto residual = [&] {
      long double rest = 0, whole = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        long double left = system.b[i];
        for (std::size_t k = 0; k < x.size(); ++k)
          left -= static_cast<long double>(system.a[i][k]) * x[k];
        rest += left * left;
        whole += static_cast<long double>(system.b[i]) * system.b[i];
      }
      return whole > 0 ? std::sqrt(rest / whole) : rest;
    };
    const long double before = residual();
    SolveOptions how;
    how.method = way.method;
    how.tolerance = way.tolerance();
    how.max_iterations = 100;
    const auto report = solver.solve(system.b, x, how);
    RC_ASSERT(report.ok());
    const long double after = residual();
    RC_ASSERT(after <= before * (1 + 1e-12L));
    if (report->ended == Ended::converged) RC_ASSERT(after <= 1.06L * how.tolerance);
  });
}
#else
TEST_CASE("relations among systems" * doctest::test_suite("RapidCheck")) {
  idletune::test::skip("built without RapidCheck (librapidcheck-dev)");
}
#endif
