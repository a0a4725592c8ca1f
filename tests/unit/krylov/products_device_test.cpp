// Products alone: what choosing makes of them, and what they leave behind however they end.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>

#include "kernels/krylov/first_runs.hpp"
#include "kernels/krylov/solve_memory.hpp"
#include "tests/unit/forwarding_devices.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/late_queue.hpp"
#include "tests/unit/krylov/made_up_notes.hpp"
#include "tests/unit/krylov/solver_subject.hpp"

using namespace idletune;
using namespace idletune::krylov;

namespace {

// Each row's entry and the one before it.
SparseMatrix pairs(std::int32_t rows) { return test::tridiagonal(rows, -1, 2, 0); }

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

TEST_CASE("a product may take the place of its vector") {
  const test::Subject subject = test::open_subject();
  krylov::Solver solver = test::make_solver(subject, pairs(4), {});
  for (const double last : {0.5, 1e-310}) {  // on the device, and on the host
    CAPTURE(last);
    std::vector<double> x = {1, 3, 7, last}, y(4);
    REQUIRE(solver.multiply(x, y).ok());
    CHECK(y == std::vector<double>{2, 5, 11, 2 * last - 7});
    REQUIRE(solver.multiply(x, x).ok());
    CHECK(x == y);
  }
}

namespace {

bool announces(const test::MadeUpNotes& notes) {
  return std::any_of(notes.texts.begin(), notes.texts.end(), [](const auto& note) {
    return note.second.find("=running") != std::string::npos;
  });
}

}  // namespace

TEST_CASE("however the last call ends, no kernel stays announced") {
  const test::Subject subject = test::open_subject();
  const std::vector<double> ones(80, 1.0), zeros(80);
  std::vector<double> y(80), far = ones;
  far[3] = 1e-310;
  SolveOptions bicgstab;
  bicgstab.method = Method::bicgstab;
  const std::function<void(krylov::Solver&)> ends[] = {
      [&](krylov::Solver& solver) { CHECK(solver.multiply(far, y, 0).ok()); },
      [&](krylov::Solver& solver) { CHECK_FALSE(solver.multiply(zeros, Span<double>(), 0).ok()); },
      [&](krylov::Solver& solver) {
        CHECK_FALSE(solver.multiply(std::vector<double>(80, HUGE_VAL), y, 0).ok());
      },
      [&](krylov::Solver& solver) { CHECK(solver.solve(zeros, y, bicgstab).ok()); },
      [&](krylov::Solver& solver) {  // CG, and the matrix is not symmetric
        CHECK_FALSE(solver.solve(ones, y, {}).ok());
      }};
  for (const auto& end : ends) {
    CAPTURE(&end - ends);
    test::MadeUpNotes notes;
    SolverOptions options;
    options.notes = &notes;
    krylov::Solver solver = test::make_solver(subject, pairs(80), options);
    begin_process();
    for (int i = 0; i < 100 && !announces(notes); ++i) {
      notes.answers = i < 3;
      REQUIRE(solver.multiply(ones, y, 1e9).ok());
    }
    REQUIRE(announces(notes));
    end(solver);
    CHECK_FALSE(announces(notes));
  }
}

TEST_CASE("what products found out is noted also where the last one is made on the host") {
  const test::Subject subject = test::open_subject();
  test::MadeUpNotes notes;
  SolverOptions options;
  options.notes = &notes;
  krylov::Solver solver = test::make_solver(subject, pairs(80), options);
  std::vector<double> x(80, 1.0), y(80);
  for (int i = 0; i < 20; ++i) REQUIRE(solver.multiply(x, y, 1e9).ok());
  const auto left = [&] {
    return std::any_of(notes.texts.begin(), notes.texts.end(),
                       [](const auto& note) { return memory_in(note.second).has_value(); });
  };
  CHECK_FALSE(left());
  x[3] = 1e-310;
  REQUIRE(solver.multiply(x, y, 0).ok());
  CHECK(left());
}

TEST_CASE("after values that the device did not take products are those of the ones before") {
  const test::Subject subject = test::open_subject();
  test::LateQueue queue(*subject.queue);
  SparseMatrix matrix = pairs(2);
  matrix.values = {1e300, 0, 1e-308};  // so far apart that products are made on the host
  auto solver = krylov::Solver::make(*subject.device, queue, matrix, {});
  REQUIRE(solver.ok());
  queue.writes_left = 0;
  CHECK(solver->set_values(std::vector<double>{1, 2, 3}).code() == StatusCode::device_error);
  queue.writes_left = SIZE_MAX;
  std::vector<double> y(2);
  REQUIRE(solver->multiply(std::vector<double>{1, 1}, y).ok());
  CHECK(y == std::vector<double>{1e300, 1e-308});
}
