#include <idletune/krylov.h>

#include <memory>
#include <utility>

#include <idletune/c_handles.hpp>
#include <idletune/krylov.hpp>
#if IDLETUNE_WITH_CUDA
#include <idletune/cuda.hpp>
#endif
#if IDLETUNE_WITH_OPENCL
#include <idletune/opencl.hpp>
#endif

struct idletune_krylov {
  std::unique_ptr<idletune::ApplicationQueue> queue;
  std::size_t rows;
  std::size_t columns;
  std::size_t entries;
  std::unique_ptr<idletune::Notes> notes;
  idletune::krylov::Solver solver;
};

namespace {

using idletune::reported;
using idletune::Result;
using idletune::Span;
using idletune::Status;
using idletune::StatusCode;
using idletune::krylov::Solver;

static_assert(IDLETUNE_KRYLOV_GMRES == static_cast<int>(idletune::krylov::Method::gmres) &&
                  IDLETUNE_KRYLOV_MIXED == static_cast<int>(idletune::krylov::Precision::mixed) &&
                  IDLETUNE_KRYLOV_CHOOSE_ALWAYS ==
                      static_cast<int>(idletune::krylov::Choosing::always) &&
                  IDLETUNE_KRYLOV_STEPS_FUSED == static_cast<int>(idletune::krylov::Steps::fused) &&
                  IDLETUNE_KRYLOV_OVERFLOW == static_cast<int>(idletune::krylov::Ended::overflow),
              "the numbers of C follow those of C++");

idletune_status refused(const char* what) {
  return reported(Status(StatusCode::invalid_argument, what));
}

Result<std::unique_ptr<idletune::ApplicationQueue>> queue_of(
    [[maybe_unused]] idletune::Device& device) {
#if IDLETUNE_WITH_OPENCL
  if (device.info().backend == "opencl") return idletune::opencl::application_queue(device);
#endif
#if IDLETUNE_WITH_CUDA
  if (device.info().backend == "cuda") return idletune::cuda::application_queue(device);
#endif
  return {StatusCode::unsupported, "no queue for a device of this back end"};
}

// Copies what the arrays are said to hold; whether that is a matrix the solver checks.
idletune::krylov::SparseMatrix matrix_of(std::int32_t rows, std::int32_t columns,
                                         const std::int32_t* row_start, const std::int32_t* column,
                                         const double* values) {
  idletune::krylov::SparseMatrix matrix;
  matrix.pattern.rows = rows;
  matrix.pattern.columns = columns;
  matrix.pattern.row_start.assign(row_start, row_start + rows + 1);
  const std::int32_t entries = row_start[rows];
  if (entries > 0) {
    matrix.pattern.column.assign(column, column + entries);
    matrix.values.assign(values, values + entries);
  }
  return matrix;
}

template <class E>
bool is_one(E value, E last) {
  return value >= 0 && value <= last;
}

const char* what_is_wrong(const idletune_krylov_setup& setup) {
  if (!is_one(setup.precision, IDLETUNE_KRYLOV_MIXED))
    return "precision is none, expected one of idletune_krylov_precision";
  if (!is_one(setup.choosing, IDLETUNE_KRYLOV_CHOOSE_ALWAYS))
    return "choosing is none, expected one of idletune_krylov_choosing";
  if (!is_one(setup.steps, IDLETUNE_KRYLOV_STEPS_FUSED))
    return "steps are none, expected one of idletune_krylov_steps";
  if (setup.format >= static_cast<int>(idletune::krylov::kSparseFormats))
    return "format is none, expected the number of one, or less than 0";
  return setup.model == nullptr && setup.model_bytes > 0 ? "model is NULL" : nullptr;
}

idletune::krylov::SolverOptions options_of(const idletune_krylov_setup& setup) {
  idletune::krylov::SolverOptions options;
  options.precision = static_cast<idletune::krylov::Precision>(setup.precision);
  options.choosing = static_cast<idletune::krylov::Choosing>(setup.choosing);
  options.steps = static_cast<idletune::krylov::Steps>(setup.steps);
  options.fixed_format = setup.format >= 0;
  if (options.fixed_format)
    options.format = static_cast<idletune::krylov::SparseFormat>(setup.format);
  options.format_limit_bytes = setup.format_limit_bytes;
  options.model = {static_cast<const std::uint8_t*>(setup.model), setup.model_bytes};
  if (setup.memory_folder != nullptr) options.memory_folder = setup.memory_folder;
  options.own_thread = setup.no_thread == 0;
  return options;
}

}  // namespace

idletune_krylov_options idletune_krylov_defaults(void) {
  return {IDLETUNE_KRYLOV_CG, 0, 1e-8, 10000, 30, -1};
}

idletune_krylov_setup idletune_krylov_usual_setup(void) {
  const idletune::krylov::SolverOptions usual;
  return {IDLETUNE_KRYLOV_F64,
          IDLETUNE_KRYLOV_CHOOSE_WHEN_PAYS,
          IDLETUNE_KRYLOV_STEPS_FASTER,
          -1,
          usual.format_limit_bytes,
          nullptr,
          0,
          nullptr,
          nullptr,
          0};
}

idletune_status idletune_krylov_open(idletune_device* device, idletune_krylov_precision precision,
                                     int32_t rows, int32_t columns, const int32_t* row_start,
                                     const int32_t* column, const double* values,
                                     idletune_krylov** krylov) {
  idletune_krylov_setup setup = idletune_krylov_usual_setup();
  setup.precision = precision;
  return idletune_krylov_open_with(device, &setup, rows, columns, row_start, column, values,
                                   krylov);
}

idletune_status idletune_krylov_open_with(idletune_device* device,
                                          const idletune_krylov_setup* setup, int32_t rows,
                                          int32_t columns, const int32_t* row_start,
                                          const int32_t* column, const double* values,
                                          idletune_krylov** krylov) {
  if (device == nullptr) return refused("device is NULL");
  if (krylov == nullptr || row_start == nullptr || setup == nullptr) {
    return refused("krylov, row_start or setup is NULL");
  }
  *krylov = nullptr;
  if (rows < 0 || columns < 0) return refused("a matrix of negative size");
  if (row_start[rows] > 0 && (column == nullptr || values == nullptr)) {
    return refused("column or values is NULL");
  }
  const char* const wrong = what_is_wrong(*setup);
  if (wrong != nullptr) return refused(wrong);
  idletune::Device& opened = idletune::device_of(device);
  auto queue = queue_of(opened);
  if (!queue.ok()) return reported(queue.status());
  auto matrix = matrix_of(rows, columns, row_start, column, values);
  const std::size_t entries = matrix.values.size();
  idletune::krylov::SolverOptions options = options_of(*setup);
  std::unique_ptr<idletune::Notes> notes;
  if (setup->agent != nullptr) notes = idletune::open_notes(idletune::agent_of(setup->agent));
  options.notes = notes.get();
  auto solver = Solver::make(opened, **queue, std::move(matrix), options);
  if (!solver.ok()) return reported(solver.status());
  *krylov = new idletune_krylov{std::move(*queue),
                                static_cast<std::size_t>(rows),
                                static_cast<std::size_t>(columns),
                                entries,
                                std::move(notes),
                                std::move(*solver)};
  return IDLETUNE_OK;
}

idletune_status idletune_krylov_chosen(const idletune_krylov* krylov,
                                       idletune_krylov_choice* choice) {
  if (krylov == nullptr || choice == nullptr) return refused("krylov or choice is NULL");
  const idletune::krylov::Chosen chosen = krylov->solver.chosen();
  const idletune::krylov::Conversion& conversion = krylov->solver.conversion();
  *choice = {sparse_format_name(chosen.format),
             chosen.group_per_row ? 1 : 0,
             chosen.work_group,
             chosen.predicted_us,
             chosen.measured_us,
             krylov->solver.csr_us(),
             verdict_name(conversion.verdict),
             conversion.cost_ms,
             conversion.break_even_iterations,
             conversion.left_low,
             conversion.left_expected,
             conversion.reason.c_str()};
  return IDLETUNE_OK;
}

void idletune_krylov_close(idletune_krylov* krylov) { delete krylov; }

idletune_status idletune_krylov_set_values(idletune_krylov* krylov, const double* values) {
  if (krylov == nullptr || values == nullptr) return refused("krylov or values is NULL");
  return reported(krylov->solver.set_values(Span<const double>(values, krylov->entries)));
}

idletune_status idletune_krylov_solve(idletune_krylov* krylov,
                                      const idletune_krylov_options* options, const double* b,
                                      double* x, idletune_krylov_report* report) {
  if (krylov == nullptr || options == nullptr || b == nullptr || x == nullptr) {
    return refused("krylov, options, b or x is NULL");
  }
  if (options->method < IDLETUNE_KRYLOV_CG || options->method > IDLETUNE_KRYLOV_GMRES) {
    return refused("method is none, expected one of idletune_krylov_method");
  }
  idletune::krylov::SolveOptions how;
  how.method = static_cast<idletune::krylov::Method>(options->method);
  if (options->jacobi != 0) how.preconditioner = idletune::krylov::Preconditioner::jacobi;
  how.tolerance = options->tolerance;
  how.max_iterations = options->max_iterations;
  how.restart = options->restart;
  how.solves_to_come = options->solves_to_come;
  const auto solved = krylov->solver.solve(Span<const double>(b, krylov->rows),
                                           Span<double>(x, krylov->columns), how);
  if (!solved.ok()) return reported(solved.status());
  if (report != nullptr) {
    *report = {static_cast<idletune_krylov_ended>(solved->ended), solved->iterations,
               solved->residual, solved->true_residual};
  }
  return IDLETUNE_OK;
}

idletune_status idletune_krylov_multiply(idletune_krylov* krylov, const double* x, double* y) {
  if (krylov == nullptr || x == nullptr || y == nullptr) return refused("krylov, x or y is NULL");
  return reported(krylov->solver.multiply(Span<const double>(x, krylov->columns),
                                          Span<double>(y, krylov->rows)));
}
