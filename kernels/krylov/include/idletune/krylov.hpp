// Linear systems with sparse matrices on a device: CG, BiCGStab and GMRES that choose format,
// kernel and work group for the matrix while they iterate.
//
//   auto queue = idletune::opencl::application_queue(*device);
//   auto solver = idletune::krylov::Solver::make(*device, **queue, matrix, {});
//   auto report = solver->solve(b, x, {});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/application_queue.hpp>
#include <idletune/device.hpp>
#include <idletune/notes.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::krylov {

// Which entries are stored. Row i's are [row_start[i], row_start[i + 1]), by ascending column.
struct SparsityPattern {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::vector<std::int32_t> row_start{0};  // [rows + 1]
  std::vector<std::int32_t> column;        // [entries()]

  std::size_t entries() const { return column.size(); }
  bool square() const { return rows == columns; }
};

struct SparseMatrix {
  SparsityPattern pattern;
  std::vector<double> values;  // [pattern.entries()]
};

// The numbers are stored in journals and models and never change.
enum class SparseFormat : std::uint8_t {
  csr = 0,  // compressed rows
  coo = 1,  // row and column of each entry
  dia = 2,  // every diagonal that has an entry, whole
  ell = 3,  // as many slots in each row as the longest one has
  hyb = 4,  // ELL of the width that a third of the rows fill, and COO for the rest
  sell = 5  // ELL for each 32 rows, which were sorted by their length
};
inline constexpr std::size_t kSparseFormats = 6;
const char* sparse_format_name(SparseFormat format);  // "CSR", ...

// Of the numbers on the device; those on the host are doubles.
enum class Precision : std::uint8_t {
  f32,
  f64,
  mixed  // f32, refined: residuals in double on the host, each corrected by a solve in single
};

// How much is tried while iterating.
enum class Choosing : std::uint8_t {
  none,       // CSR or the wanted format, in its default kernel
  when_pays,  // what the iterations left are expected to pay for
  always      // every kernel and work group; another format where it is expected to be faster
};

// How CG runs the sums and inner products between two products of the matrix.
enum class Steps : std::uint8_t {
  faster,  // apart first; where choosing says so, both ways, and then the faster one
  apart,   // each by a kernel of its own
  fused    // into two kernels and one copy of numbers for each iteration
};

struct SolverOptions {
  Precision precision = Precision::f64;
  Choosing choosing = Choosing::when_pays;
  Steps steps = Steps::faster;
  // Where `fixed_format` says so: this one from the start, and no other. Where it has no memory, or
  // its kernels fail, CSR is used.
  bool fixed_format = false;
  SparseFormat format = SparseFormat::csr;
  // Of the matrix on the device in one format; CSR, which must be there, is not limited.
  std::uint64_t format_limit_bytes = std::uint64_t{256} << 20;
  // Whether another format is made on a thread of the solver, while iterations go on; joined by the
  // destructor at the latest. Else the calling thread does so between two iterations, as where
  // `choosing` is always.
  bool own_thread = true;
  // A model of `idletune learn`, read by make() alone: which formats, kernels and work groups are
  // tried is then what it expects of this matrix. Empty, or of other devices: it is done without.
  Span<const std::uint8_t> model;
  // Where processes note what they have found out about a structure, and the next one begins with
  // it: an agent's (idletune::open_notes), crash-safe with all that it knows. Outlives the solver.
  // Null: nothing is noted.
  Notes* notes = nullptr;
  // Where version 0.2.0 left such files, each of which is read as long as `notes` say nothing of its
  // structure; nothing is written there. Empty: nowhere.
  std::string memory_folder;
};

enum class Method : std::uint8_t {
  cg,        // symmetric positive definite matrices (Hestenes and Stiefel 1952)
  bicgstab,  // any matrix (van der Vorst 1992)
  gmres      // any matrix; begins anew after `restart` iterations (Saad and Schultz 1986)
};
enum class Preconditioner : std::uint8_t { none, jacobi };

struct SolveOptions {
  Method method = Method::cg;
  Preconditioner preconditioner = Preconditioner::none;
  double tolerance = 1e-8;  // of the residual's norm, as a share of that of b; more than 0
  std::uint32_t max_iterations = 10000;
  std::uint32_t restart = 30;  // GMRES: 1 to 1000
  // Solves with this structure that are still to come behind this one, as the application knows.
  // Less than 0: it does not; as many are expected as there were.
  double solves_to_come = -1;
  // Called with the iteration and the residual's norm as a share of that of b; may be null. Must
  // not throw.
  void (*progress)(void* user, std::uint32_t iteration, double residual) = nullptr;
  void* user = nullptr;
};

// Of an x that brings b - A x no nearer to 0 than the one given, or is not finite, nothing is given
// back: x stays.
enum class Ended : std::uint8_t {
  converged,      // so the true residual says, at most 5 % above the tolerance
  stagnated,      // the recurrence converged, the true residual did not
  limit_reached,  // max_iterations
  breakdown,      // the method cannot go on: `reason`
  overflow        // a number left the range of the precision, or x that of double precision
};
const char* ended_name(Ended ended);  // "converged", ...

// Whether another format than CSR was worth its conversion, and the figures.
struct Conversion {
  enum class Verdict : std::uint8_t { keep, converted, reverted, fixed };
  Verdict verdict = Verdict::keep;
  double cost_ms = 0;                // measured where it was done, else predicted
  double left_low = 0;               // products still to come when it was thought of: at the
  double left_expected = 0;          // pessimistic end, and as expected
  double break_even_iterations = 0;  // products from which on it pays; 0: never
  std::uint32_t at_iteration = 0;    // products before it, in all solves; BiCGStab has two a step
  std::string reason;                // one sentence
};
const char* verdict_name(Conversion::Verdict verdict);  // "keep", ...

struct Chosen {
  SparseFormat format = SparseFormat::csr;
  bool group_per_row = false;
  std::uint32_t lanes = 1;  // work items of a row, where it does not have a whole group
  std::uint32_t work_group = 0;
  bool fused = false;       // the steps of CG
  double predicted_us = 0;  // of a product in this format, before it was measured; 0: not predicted
  double measured_us = 0;   // wall clock, the best kernel's median; 0: not measured
  std::uint32_t times_measured = 0;  // 1: in passing, and may have been disturbed
};

struct SolveReport {
  Ended ended = Ended::converged;
  std::string reason;  // one sentence; empty where it converged
  std::uint32_t iterations = 0;
  std::uint32_t refinements = 0;  // of mixed precision: solves in single precision
  double residual = 0;            // of the recurrence, as a share of the norm of b
  double true_residual = 0;       // of x as it is returned, from b and A, in double precision
  Chosen chosen;
  double csr_us = 0;  // the same of a product in CSR
  Conversion conversion;
  double solve_seconds = 0;   // of that, `tuning_seconds` went into what was tried
  double tuning_seconds = 0;  // compiling, checking and converting
  double setup_seconds = 0;   // of make() and set_values(), since the last solve
  std::string memory;         // what earlier processes left; empty without notes
};

// A matrix on a device. Not for several threads at a time. The device must not be one on which an
// agent may tune meanwhile: open a second one. Device and queue must outlive the solver.
class Solver {
 public:
  // Checks the matrix and puts it onto the device. Errors: invalid_argument (not a matrix, or an
  // entry that is no finite number of this precision; names the row), out_of_memory, compile_error,
  // unsupported (no double precision), device_error.
  static Result<Solver> make(Device& device, ApplicationQueue& queue, SparseMatrix matrix,
                             const SolverOptions& options);
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;
  ~Solver();

  // New numbers in the same structure, in the order of the entries: nothing is converted or chosen
  // anew. After an error the old ones stay. Errors: invalid_argument, device_error.
  Status set_values(Span<const double> values);

  // Solves A x = b from the x given; b is another array. What ends the iterations is no error, but
  // in the report. Errors, with x as it was: invalid_argument (sizes, numbers that are not finite,
  // a matrix that is not square, for CG not symmetric, for Jacobi with a zero on the diagonal),
  // out_of_memory, device_error.
  Result<SolveReport> solve(Span<const double> b, Span<double> x, const SolveOptions& options);

  // y = A x; also for matrices that are not square, and where y takes x's place.
  // `products_to_come` behind this one are what choosing reckons with. Numbers too far apart for the
  // precision are multiplied on the host. Errors: invalid_argument, device_error.
  Status multiply(Span<const double> x, Span<double> y, double products_to_come = 0);

  // As in a report, as of now; that steps are fused is told by reports alone.
  Chosen chosen() const;
  double csr_us() const;
  const Conversion& conversion() const;
  double tuning_seconds() const;  // of all solves and products

 private:
  class State;
  explicit Solver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace idletune::krylov
