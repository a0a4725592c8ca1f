// The solvers where numbers, memory or order are at their limits: a verdict is proven by the x that
// the caller has, which is never worse than the one given.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>

#include "kernels/krylov/solve_memory.hpp"
#include "platform/opencl/loader.hpp"
#include "tests/unit/forwarding_devices.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/late_queue.hpp"
#include "tests/unit/krylov/made_up_notes.hpp"
#include "tests/unit/krylov/proven_residual.hpp"
#include "tests/unit/krylov/solver_subject.hpp"
#include "tests/unit/skip.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;
using test::add_entry;
using test::end_row;
using test::make_solver;
using test::open_subject;
using test::Solved;
using test::Subject;
using Vector = std::vector<double>;

constexpr Method kMethods[] = {Method::cg, Method::bicgstab, Method::gmres};
constexpr Precision kPrecisions[] = {Precision::f32, Precision::f64, Precision::mixed};

SparseMatrix band(std::int32_t rows, double factor = 1, bool ring = false) {
  SparseMatrix matrix;
  matrix.pattern.columns = rows;
  for (std::int32_t row = 0; row < rows; ++row) {
    if (ring && row == rows - 1) add_entry(matrix, 0, -factor);
    if (row > 0) add_entry(matrix, row - 1, -factor);
    add_entry(matrix, row, (ring ? 2 : 2.1) * factor);
    if (row < rows - 1) add_entry(matrix, row + 1, -factor);
    if (ring && row == 0) add_entry(matrix, rows - 1, -factor);
    end_row(matrix);
  }
  return matrix;
}

SparseMatrix diagonal_of(const Vector& values) {
  SparseMatrix matrix;
  matrix.pattern.columns = static_cast<std::int32_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) add_entry(matrix, static_cast<std::int32_t>(i), values[i]);
    end_row(matrix);
  }
  return matrix;
}

Vector waves(std::size_t size, double factor = 1) {
  Vector b(size);
  for (std::size_t i = 0; i < size; ++i)
    b[i] = factor * (1 + 0.1 * static_cast<double>(i * 7 % 13));
  return b;
}

SolverOptions quiet(Precision precision, Steps steps = Steps::apart) {
  SolverOptions options;
  options.precision = precision;
  options.choosing = Choosing::none;
  options.steps = steps;
  return options;
}

SolveOptions how(Method method, double tolerance = 1e-4) {
  SolveOptions options;
  options.method = method;
  options.tolerance = tolerance;
  return options;
}

bool all_finite(const Vector& x) {
  return std::all_of(x.begin(), x.end(), [](double number) { return std::isfinite(number); });
}

}  // namespace

TEST_CASE("on a queue whose commands may overtake each other a solve is the same bit by bit") {
  if (test::asks_for_cuda()) return test::skip("OpenCL alone");
  const Subject subject = open_subject();
  const opencl::Handles handles = opencl::handles(*subject.device);
  const auto api = opencl::load("");
  REQUIRE(api.ok());
  cl_int error = CL_SUCCESS;
  const auto queue = (*api)->CreateCommandQueue(static_cast<cl_context>(handles.context),
                                                static_cast<cl_device_id>(handles.device),
                                                CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
  REQUIRE(error == CL_SUCCESS);
  {
    auto device = opencl::adopt(handles.context, handles.device, queue);
    REQUIRE_MESSAGE(device.ok(), device.status().to_string());
    auto own = opencl::application_queue(**device);
    REQUIRE(own.ok());
    const Subject overtaking{std::move(*device), std::move(*own)};
    const SparseMatrix matrix = band(3000);
    for (const Method method : kMethods) {
      for (const Steps steps : {Steps::apart, Steps::fused}) {
        CAPTURE(static_cast<int>(method));
        Solver in_order = make_solver(subject, matrix, quiet(Precision::f64, steps));
        Solver solver = make_solver(overtaking, matrix, quiet(Precision::f64, steps));
        const Solved expected = test::solve(in_order, waves(3000), how(method, 1e-8));
        const Solved solved = test::solve(solver, waves(3000), how(method, 1e-8));
        CHECK(expected.report.ended == Ended::converged);
        CHECK(solved.history == expected.history);
        CHECK(solved.x == expected.x);
      }
    }
  }
  (*api)->ReleaseCommandQueue(queue);
}

TEST_CASE("powers of two of A and b change neither iterations nor digits") {
  const Subject subject = open_subject();
  const std::size_t size = 300;
  for (const Precision precision : kPrecisions) {
    const bool wide = precision == Precision::f64;
    for (const Method method : kMethods) {
      for (const Steps steps : {Steps::apart, Steps::fused}) {
        if (steps == Steps::fused && method != Method::cg) continue;
        Solver plain = make_solver(subject, band(300), quiet(precision, steps));
        const Solved expected = test::solve(plain, waves(size), how(method));
        CHECK(expected.report.ended == Ended::converged);
        for (const int of_a : {0, -100, 100, wide ? -400 : -20, wide ? 400 : 60}) {
          Solver solver =
              make_solver(subject, band(300, std::ldexp(1, of_a)), quiet(precision, steps));
          for (const int of_b : {0, -66, 66, wide ? -600 : -110, wide ? 600 : 110}) {
            CAPTURE(static_cast<int>(precision));
            CAPTURE(static_cast<int>(method));
            CAPTURE(static_cast<int>(steps));
            CAPTURE(of_a);
            CAPTURE(of_b);
            // The first products of a solver are measured, with steps apart.
            if (steps == Steps::fused) {
              solver =
                  make_solver(subject, band(300, std::ldexp(1, of_a)), quiet(precision, steps));
            }
            const Solved solved =
                test::solve(solver, waves(size, std::ldexp(1, of_b)), how(method));
            CHECK(solved.report.ended == Ended::converged);
            CHECK(solved.history == expected.history);
            for (std::size_t i = 0; i < size; ++i)
              REQUIRE(solved.x[i] == std::ldexp(expected.x[i], of_b - of_a));
          }
        }
      }
    }
  }
}

TEST_CASE("numbers as far apart as can be push nothing out of the range") {
  const Subject subject = open_subject();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  SparseMatrix uneven = band(200);
  for (double& value : uneven.values) value = value > 0 ? 4 : value;
  uneven.values[1] = kTiny;
  for (const Precision precision : kPrecisions) {
    CAPTURE(static_cast<int>(precision));
    const double tiny = precision == Precision::f64 ? kTiny : 1e-38, huge = 1 / std::sqrt(tiny);
    Solver two = make_solver(subject, diagonal_of({1, tiny}), quiet(precision));
    Vector y(2);
    REQUIRE(two.multiply(Vector{huge, tiny}, y).ok());
    CHECK(y[0] == doctest::Approx(huge));
    Solver solver = make_solver(subject, uneven, quiet(precision));
    for (const Method method : kMethods) {
      CAPTURE(static_cast<int>(method));
      if (method == Method::cg) continue;  // it is not symmetric
      const Solved solved = test::solve(solver, waves(200, 1), how(method, 1e-4));
      CHECK(solved.report.ended == Ended::converged);
      CHECK(test::residual_of(uneven, waves(200, 1), solved.x).share < 2e-4);
    }
  }
}

TEST_CASE("an x beyond the range of double precision is overflow, and the one given stays") {
  const Subject subject = open_subject();
  for (const Method method : kMethods) {
    CAPTURE(static_cast<int>(method));
    Solver solver = make_solver(subject, diagonal_of(Vector(4, 1e-300)), quiet(Precision::f64));
    Vector x = {1, 2, 3, 4};
    const auto report = solver.solve(Vector(4, 1e10), x, how(method, 1e-8));
    REQUIRE(report.ok());
    CHECK(report->ended == Ended::overflow);
    CHECK(x == Vector{1, 2, 3, 4});
    CHECK(report->true_residual == doctest::Approx(1));
    CHECK(solver.solve(Vector(4, 1e4), x, how(method, 1e-8))->ended == Ended::converged);
  }
  // What single precision cannot hold itself a solve in it can.
  Solver small = make_solver(subject, band(100, 1e-30), quiet(Precision::f32));
  const Solved solved = test::solve(small, waves(100, 1e10), how(Method::cg, 1e-4));
  CHECK(solved.report.ended == Ended::converged);
  CHECK(test::residual_of(band(100, 1e-30), waves(100, 1e10), solved.x).share < 2e-4);
  // The norm of this b is beyond the range, its elements are not.
  for (const Precision precision : {Precision::f64, Precision::mixed}) {
    Solver large = make_solver(subject, band(100), quiet(precision));
    const Solved ended = test::solve(large, Vector(100, 1e308), how(Method::cg, 1e-8));
    CHECK(ended.report.true_residual <= 1);
    CHECK(all_finite(ended.x));
  }
}

// What is left of b is then larger than what squares of that precision hold.
TEST_CASE("from an x far from the solution the nearest is reached that the precision lets") {
  const Subject subject = open_subject();
  const SparseMatrix matrix = band(200);
  const Vector b = waves(200);
  const struct {
    Precision precision;
    double far, nearer;
  } cases[] = {
      {Precision::f32, 1e25, 1e-3}, {Precision::mixed, 1e25, 1e-28}, {Precision::f64, 1e200, 1e-7}};
  for (const auto& [precision, far, nearer] : cases) {
    for (const Method method : kMethods) {
      CAPTURE(static_cast<int>(precision));
      CAPTURE(static_cast<int>(method));
      Solver solver = make_solver(subject, matrix, quiet(precision));
      Vector x = waves(200, far);
      const double before = test::residual_of(matrix, b, x).share;
      const auto report = solver.solve(b, x, how(method, 1e-4));
      REQUIRE_MESSAGE(report.ok(), report.status().to_string());
      CHECK(report->ended != Ended::overflow);
      CHECK((report->ended == Ended::converged) == (precision == Precision::mixed));
      CHECK(test::residual_of(matrix, b, x).share <= nearer * before);
    }
  }
}

TEST_CASE("GMRES on a singular system ends with the nearest x that it has found") {
  const Subject subject = open_subject();
  for (const Precision precision : {Precision::f64, Precision::f32}) {
    CAPTURE(static_cast<int>(precision));
    Solver solver = make_solver(subject, diagonal_of({1, 2, 0}), quiet(precision));
    const Solved solved = test::solve(solver, {1, 1, 1}, how(Method::gmres, 1e-8));
    CHECK(solved.report.ended == Ended::breakdown);
    CHECK(solved.report.true_residual == doctest::Approx(std::sqrt(1.0 / 3)).epsilon(1e-5));
    CHECK(std::fabs(solved.x[2]) < 10);
    Solver ring = make_solver(subject, band(20, 1, true), quiet(precision));
    Vector b(20, 0.0);
    b[3] = 1;
    const Solved turned = test::solve(ring, b, how(Method::gmres, 1e-8));
    CHECK(turned.report.ended != Ended::converged);
    CHECK(turned.report.true_residual < 1);
    for (const double number : turned.x) CHECK(std::fabs(number) < 1e6);
  }
}

TEST_CASE("where memory ends while a matrix is put onto the device, nothing is on its way") {
  const Subject subject = open_subject();
  std::size_t needed = 0;
  for (; needed < 20; ++needed) {
    test::LateQueue queue(*subject.queue);
    queue.allocations_left = needed;
    const auto solver = Solver::make(*subject.device, queue, band(50), quiet(Precision::f64));
    CHECK(queue.pending() == 0);
    if (solver.ok()) break;
    CHECK(solver.code() == StatusCode::out_of_memory);
  }
  CHECK(needed > 2);
  for (std::size_t writes = 0; writes < 3; ++writes) {  // starts of rows, columns, numbers
    test::LateQueue queue(*subject.queue);
    queue.writes_left = writes;
    const auto solver = Solver::make(*subject.device, queue, band(50), quiet(Precision::f64));
    CHECK(solver.code() == StatusCode::device_error);
    CHECK(queue.pending() == 0);
  }
}

TEST_CASE("new values that the device does not take leave the old ones") {
  const Subject subject = open_subject();
  test::LateQueue queue(*subject.queue);
  auto solver = Solver::make(*subject.device, queue, band(50), quiet(Precision::f64));
  REQUIRE(solver.ok());
  const Solved before = test::solve(*solver, waves(50));
  queue.writes_left = 0;
  CHECK(solver->set_values(band(50, 3).values).code() == StatusCode::device_error);
  queue.writes_left = SIZE_MAX;
  CHECK(test::solve(*solver, waves(50)).x == before.x);
  REQUIRE(solver->set_values(band(50, 4).values).ok());
  const Solved after = test::solve(*solver, waves(50));
  for (std::size_t i = 0; i < 50; ++i) CHECK(after.x[i] == before.x[i] / 4);
}

TEST_CASE("fused steps whose sums are wrong are not taken") {
  const Subject subject = open_subject();
  for (const char* wrong : {"STORE_PAIR(product, 2 * square)", "STORE_PAIR(2 * product, square)"}) {
    test::MisreadingDevice device(*subject.device, "STORE_PAIR(product, square)", wrong);
    auto solver =
        Solver::make(device, *subject.queue, band(300), quiet(Precision::f64, Steps::fused));
    REQUIRE_MESSAGE(solver.ok(), solver.status().to_string());
    for (int round = 0; round < 2; ++round) {
      const Solved solved = test::solve(*solver, waves(300), how(Method::cg, 1e-8));
      CHECK(solved.report.ended == Ended::converged);
      CHECK_FALSE(solved.report.chosen.fused);
    }
    CHECK(device.misread > 0);
  }
}

TEST_CASE("entries below the range of single precision are no fault of the device") {
  const Subject subject = open_subject();
  Solver solver = make_solver(subject, diagonal_of({1, 1.2e-41, 2}), quiet(Precision::f32));
  Vector y(3);
  REQUIRE(solver.multiply(Vector(3, 1e9), y).ok());
  CHECK(y[0] == 1e9);
  CHECK(y[2] == 2e9);
  Solver rows = make_solver(subject, diagonal_of({1e30, 1e-30}), quiet(Precision::f32));
  y.resize(2);
  REQUIRE(rows.multiply(Vector{1e-30, 1e30}, y).ok());
  CHECK(y[0] == doctest::Approx(1));
  CHECK(y[1] == doctest::Approx(1));
}

TEST_CASE("what is no solver's option, size or array is refused, and nothing ends") {
  const Subject subject = open_subject();
  const auto refused = [&](SparseMatrix matrix, const SolverOptions& options) {
    const auto solver = Solver::make(*subject.device, *subject.queue, std::move(matrix), options);
    return solver.code() == StatusCode::invalid_argument;
  };
  CHECK(refused({{-1, 2, {0}, {}}, {}}, {}));
  CHECK(refused({{2, -1, {0, 0, 0}, {}}, {}}, {}));
  SolverOptions options;
  options.format = static_cast<SparseFormat>(17);
  CHECK(refused(band(3), options));
  options = {};
  options.precision = static_cast<Precision>(9);
  CHECK(refused(band(3), options));
  options = {};
  options.steps = static_cast<Steps>(3);
  CHECK(refused(band(3), options));
  options = {};
  options.choosing = static_cast<Choosing>(3);
  CHECK(refused(band(3), options));
  // Nothing of it takes memory by the columns before there is a product.
  CHECK(
      Solver::make(*subject.device, *subject.queue, {{1, 2000000000, {0, 1}, {7}}, {2}}, {}).ok());
  Solver solver = make_solver(subject, band(3), quiet(Precision::f64));
  Vector x(3, 1.0);
  const auto code = [&](const SolveOptions& given) {
    return solver.solve(Vector(3, 1.0), x, given).code();
  };
  CHECK(solver.solve(x, x, {}).code() == StatusCode::invalid_argument);
  CHECK(solver.solve(Span<const double>(x.data() + 1, 2), x, {}).code() ==
        StatusCode::invalid_argument);
  CHECK(code(how(static_cast<Method>(3))) == StatusCode::invalid_argument);
  CHECK(code(how(Method::cg, HUGE_VAL)) == StatusCode::invalid_argument);
  SolveOptions jacobi;
  jacobi.preconditioner = static_cast<Preconditioner>(9);
  CHECK(code(jacobi) == StatusCode::invalid_argument);
  CHECK(solver.multiply(Vector(3, 1.0), x, std::nan("")).code() == StatusCode::invalid_argument);
  CHECK(x == Vector(3, 1.0));
  const Solver other = std::move(solver);
  CHECK(solver.solve(Vector(3, 1.0), x, {}).code() == StatusCode::invalid_argument);  // NOLINT
}

TEST_CASE("GMRES alone is asked when it begins anew") {
  const Subject subject = open_subject();
  Solver solver = make_solver(subject, band(3), quiet(Precision::f64));
  for (const Method method : kMethods) {
    SolveOptions options = how(method);
    options.restart = 0;
    Vector x(3);
    const StatusCode code = solver.solve(Vector(3, 1.0), x, options).code();
    CHECK((code == StatusCode::invalid_argument) == (method == Method::gmres));
  }
}

TEST_CASE("while a solver waits for its first product no kernel is announced") {
  const Subject subject = open_subject();
  test::MadeUpNotes notes;
  SolverOptions options = quiet(Precision::f64);
  options.notes = &notes;
  options.fixed_format = true;
  options.format = SparseFormat::ell;
  const Solver solver = make_solver(subject, band(70), options);
  CHECK(notes.written == 2);
  for (const auto& [digest, text] : notes.texts) CHECK(text == "products");
}

TEST_CASE("products alone leave what they found out, too") {
  const Subject subject = open_subject();
  test::MadeUpNotes notes;
  SolverOptions options;
  options.notes = &notes;
  options.fixed_format = true;  // CSR
  Solver first = make_solver(subject, band(80), options);
  Vector y(80);
  for (int i = 99; i >= 0; --i) REQUIRE(first.multiply(Vector(80, 1.0), y, i).ok());
  int left = 0;
  for (const auto& [digest, text] : notes.texts) left += memory_in(text).has_value();
  CHECK(left == 1);
  const Chosen best = first.chosen(), next = make_solver(subject, band(80), options).chosen();
  CHECK(next.work_group == best.work_group);
  CHECK(next.lanes == best.lanes);
}

TEST_CASE("squares below the range of single precision are no fault of fused steps") {
  const Subject subject = open_subject();
  SparseMatrix matrix = band(65);
  matrix.values[0] = 1e21;
  Vector b(65, 1.0);
  b[0] = 0;
  test::MadeUpNotes notes;
  SolverOptions options = quiet(Precision::f32, Steps::fused);
  options.notes = &notes;
  Solver solver = make_solver(subject, matrix, options);
  Vector y(65);
  for (int i = 0; i < 4; ++i) REQUIRE(solver.multiply(b, y).ok());  // else CG's first step is apart
  SolveOptions few = how(Method::cg);
  few.max_iterations = 5;
  (void)test::solve(solver, b, few);
  CHECK(notes.noted(device_digest(subject.device->info(), 4)) == "products");
}

TEST_CASE("where a given format fails and CSR has no room, later solves say so until it has") {
  const Subject subject = open_subject();
  test::MisreadingDevice device(*subject.device, "sum += values[slot]", "sum += 2 * values[slot]");
  test::LateQueue queue(*subject.queue);
  SolverOptions options = quiet(Precision::f64);
  options.fixed_format = true;
  options.format = SparseFormat::ell;
  auto solver = Solver::make(device, queue, band(50), options);
  REQUIRE(solver.ok());
  Vector y(50);
  queue.allocations_left = 2;  // the vectors
  for (int i = 0; i < 2; ++i) {
    CHECK(solver->multiply(Vector(50, 1.0), y).code() == StatusCode::out_of_memory);
    CHECK(solver->chosen().format == SparseFormat::csr);
    queue.allocations_left = 2;
  }
  queue.allocations_left = SIZE_MAX;
  CHECK(solver->multiply(Vector(50, 1.0), y).ok());
}

TEST_CASE("where x becomes zeros the reason does not say that it stays") {
  const Subject subject = open_subject();
  Solver solver = make_solver(subject, diagonal_of({100, -100, 1}), quiet(Precision::f64));
  Vector x(3, 1e308);
  const auto report = solver.solve(Vector{1, 2, 1}, x, how(Method::cg));
  REQUIRE(report.ok());
  CHECK(x == Vector(3, 0.0));
  CHECK(report->reason.find("; nothing nearer was found") != std::string::npos);
}

TEST_CASE("GMRES keeps its vectors orthogonal where each product leaves little that is new") {
  constexpr std::int32_t kRows = 2100;
  const SparseMatrix matrix = test::tridiagonal(kRows, -1, 2.5, -1);
  Vector b(kRows);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i * i));
  const Subject subject = open_subject();
  Solver solver = make_solver(subject, matrix, quiet(Precision::f64));
  const Solved solved = test::solve(solver, b, how(Method::gmres, 1e-10));
  CHECK(solved.report.ended == Ended::converged);
  CHECK(solved.report.residual > 0);
}
