// Systems drawn by seed, of every sort that a method cannot or can hardly solve. For a campaign
// IDLETUNE_SOLVER_SYSTEMS says how many, IDLETUNE_SOLVER_SEED from where, and each solve becomes a
// line of the file IDLETUNE_SOLVER_RECORDS: tests/campaigns/solver_systems.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>

#include "kernels/krylov/system_check.hpp"
#include "models/core/random.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/proven_residual.hpp"
#include "tests/unit/krylov/solver_subject.hpp"
#include "tests/unit/repeats.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;
using test::add_entry;
using test::end_row;
using Vector = std::vector<double>;

constexpr int kOfAStructure = 24;  // systems

// Symmetric; in some rows nothing, in some everything.
SparsityPattern drawn_structure(Random& random) {
  const auto rows = static_cast<std::int32_t>(1 + random.below(random.below(3) == 0 ? 4 : 48));
  const double share = random.uniform() < 0.2 ? 0.5 : 3.0 / rows;
  std::vector<bool> used(static_cast<std::size_t>(rows) * static_cast<std::size_t>(rows));
  const auto at = [&](std::int32_t i, std::int32_t k) {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(rows) +
           static_cast<std::size_t>(k);
  };
  const bool whole_diagonal = random.below(4) != 0;
  for (std::int32_t i = 0; i < rows; ++i) {
    used[at(i, i)] = whole_diagonal || random.below(3) != 0;
    for (std::int32_t k = 0; k < i; ++k) used[at(i, k)] = used[at(k, i)] = random.uniform() < share;
  }
  SparsityPattern pattern;
  pattern.rows = pattern.columns = rows;
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t k = 0; k < rows; ++k) {
      if (used[at(i, k)]) pattern.column.push_back(k);
    }
    pattern.row_start.push_back(static_cast<std::int32_t>(pattern.column.size()));
  }
  return pattern;
}

// `range`: of a single entry, as a power of ten.
SparseMatrix drawn_matrix(Random& random, const SparsityPattern& pattern, int range) {
  SparseMatrix matrix{pattern, Vector(pattern.entries())};
  const auto sort = random.below(6);
  const auto any = [&](int most) { return std::pow(10.0, most * (2 * random.uniform() - 1)); };
  const double unit = any(range);
  for (std::size_t row = 0; row < static_cast<std::size_t>(pattern.rows); ++row) {
    const double size = unit * (sort == 0 ? any(std::min(30, 38 - range)) : 1);
    for (auto k = static_cast<std::size_t>(pattern.row_start[row]);
         k < static_cast<std::size_t>(pattern.row_start[row + 1]); ++k) {
      const bool diagonal = static_cast<std::size_t>(pattern.column[k]) == row;
      double& value = matrix.values[k];
      if (sort == 1) value = unit;                                               // of rank 1
      if (sort == 2) value = unit * (diagonal ? 50 : -1);                        // definite
      if (sort == 3) value = unit * (!diagonal ? 0.25 : row % 2 == 0 ? 1 : -1);  // indefinite
      if (sort == 4 && diagonal) value = random.below(3) == 0 ? 0 : unit;
      if (sort == 0 || sort == 5) value = size * (2 * random.uniform() - 1);
    }
  }
  return matrix;
}

Vector drawn_vector(Random& random, std::size_t size, int range) {
  const double unit = std::pow(10.0, range * (2 * random.uniform() - 1));
  Vector all(size);
  for (double& number : all) number = random.below(5) == 0 ? 0 : unit * (2 * random.uniform() - 1);
  return all;
}

void list(std::ofstream& to, const char* name, const Vector& numbers) {
  to << ", \"" << name << "\": [";
  char text[32];
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::snprintf(text, sizeof text, "%s%.17g", i > 0 ? ", " : "", numbers[i]);
    to << text;
  }
  to << ']';
}

struct Solve {
  const SparseMatrix& matrix;
  const Vector& b;
  const Vector& given;
  const Vector& x;
  const SolveOptions& options;
  const SolveReport& report;
};

void record(std::ofstream& to, Precision precision, const Solve& solve) {
  const SparsityPattern& pattern = solve.matrix.pattern;
  to << "{\"precision\": " << static_cast<int>(precision)
     << ", \"method\": " << static_cast<int>(solve.options.method) << ", \"ended\": \""
     << ended_name(solve.report.ended) << "\", \"tolerance\": " << solve.options.tolerance;
  list(to, "row_start", {pattern.row_start.begin(), pattern.row_start.end()});
  list(to, "column", {pattern.column.begin(), pattern.column.end()});
  list(to, "values", solve.matrix.values);
  list(to, "b", solve.b);
  list(to, "given", solve.given);
  list(to, "x", solve.x);
  list(to, "true_residual", {solve.report.true_residual});
  to << "}\n";
}

void check_solve(const Solve& solve) {
  const test::Residual found = test::residual_of(solve.matrix, solve.b, solve.x);
  const test::Residual before = test::residual_of(solve.matrix, solve.b, solve.given);
  for (const double number : solve.x) CHECK(std::isfinite(number));
  CHECK(std::fabs(found.share - solve.report.true_residual) <= 1e-9 * found.share + found.rounding);
  CHECK(found.share <= before.share * 1.000001 + found.rounding);
  if (solve.report.ended == Ended::converged)
    CHECK(found.share <= 1.05 * solve.options.tolerance + found.rounding);
}

}  // namespace

TEST_CASE("no verdict is untrue and no x worse than the one given, for systems drawn by seed") {
  const test::Subject subject = test::open_subject();
  const std::uint64_t systems =
      test::number_from_environment("IDLETUNE_SOLVER_SYSTEMS", 2 * kOfAStructure);
  Random random(test::number_from_environment("IDLETUNE_SOLVER_SEED", 20261124));
  const char* const path = std::getenv("IDLETUNE_SOLVER_RECORDS");
  std::ofstream records(path != nullptr ? path : "/dev/null");
  int converged = 0;
  for (std::uint64_t i = 0; i < systems; i += kOfAStructure) {
    const SparsityPattern pattern = drawn_structure(random);
    for (const Precision precision : {Precision::f32, Precision::f64, Precision::mixed}) {
      const int range = precision == Precision::f64 ? 120 : 6;
      SolverOptions options;
      options.precision = precision;
      options.choosing = Choosing::none;
      Solver solver = test::make_solver(subject, drawn_matrix(random, pattern, range), options);
      for (int j = 0; j < kOfAStructure; ++j) {
        CAPTURE(i);
        CAPTURE(j);
        const SparseMatrix matrix = drawn_matrix(random, pattern, range);
        REQUIRE(solver.set_values(matrix.values).ok());
        const auto size = static_cast<std::size_t>(pattern.rows);
        const Vector b = drawn_vector(random, size, precision == Precision::f32 ? 35 : 100);
        const Vector given = j % 2 == 0 ? Vector(size) : drawn_vector(random, size, 3);
        for (const Method method : {Method::cg, Method::bicgstab, Method::gmres}) {
          if (method == Method::cg && !check_symmetric(matrix).ok()) continue;
          CAPTURE(static_cast<int>(precision));
          CAPTURE(static_cast<int>(method));
          SolveOptions how;
          how.method = method;
          how.tolerance = precision == Precision::f32 ? 1e-4 : 1e-9;
          how.max_iterations = 100;
          Vector x = given;
          const auto report = solver.solve(b, x, how);
          REQUIRE_MESSAGE(report.ok(), report.status().to_string());
          const Solve solve{matrix, b, given, x, how, *report};
          if (std::any_of(b.begin(), b.end(), [](double number) { return number != 0; })) {
            check_solve(solve);
            record(records, precision, solve);
          }
          converged += report->ended == Ended::converged ? 1 : 0;
        }
      }
    }
  }
  CHECK(converged > 20);
}
