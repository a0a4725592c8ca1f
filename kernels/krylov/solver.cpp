#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <idletune/krylov.hpp>

#include "kernels/krylov/device_vectors.hpp"
#include "kernels/krylov/iterations.hpp"
#include "kernels/krylov/product.hpp"
#include "kernels/krylov/solve_memory.hpp"
#include "kernels/krylov/sparse_matrix.hpp"
#include "kernels/krylov/stopwatch.hpp"
#include "kernels/krylov/system_check.hpp"

namespace idletune::krylov {
namespace {

constexpr double kStagnated = 1.05;  // true residual over the tolerance: more than rounding
// Of mixed precision: how far a correction goes at most, and how much of the residual one that gets
// anywhere may leave.
constexpr double kCorrection = 1e-4;
constexpr double kShortCorrection = 0.1;  // once that has failed
constexpr double kLeastCorrection = 0.5;

double norm_of(Span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  if (largest == 0) return 0;
  double sum = 0;
  for (const double value : values) sum += value / largest * (value / largest);
  return largest * std::sqrt(sum);
}

Precision on_device(Precision precision) {
  return precision == Precision::f64 ? Precision::f64 : Precision::f32;
}

Status check_options(const SolveOptions& options) {
  if (!(options.tolerance > 0)) {
    return {StatusCode::invalid_argument, "tolerance: expected a number above 0"};
  }
  if (options.restart < 1 || options.restart > 1000) {
    return {StatusCode::invalid_argument, {"restart: ", options.restart, ", expected 1 to 1000"}};
  }
  if (std::isnan(options.solves_to_come)) {
    return {StatusCode::invalid_argument, "solves_to_come: expected a number"};
  }
  return {};
}

// What ended a single correction ends the whole where that gets no further.
Status ends(Ended how, const char* why, SolveReport& report) {
  const bool told = report.ended == Ended::breakdown || report.ended == Ended::overflow;
  if (how == Ended::stagnated && told) return {};
  report.ended = how;
  report.reason = why;
  return {};
}

// Who calls back during corrections: with the residual as a share of the norm of b itself.
struct ScaledProgress {
  const SolveOptions& options;
  double scale;
  static void call(void* user, std::uint32_t iteration, double residual) {
    const auto& self = *static_cast<ScaledProgress*>(user);
    self.options.progress(self.options.user, iteration, residual * self.scale);
  }
};

}  // namespace

const char* ended_name(Ended ended) {
  constexpr const char* kNames[] = {"converged", "stagnated", "limit_reached", "breakdown",
                                    "overflow"};
  return kNames[static_cast<std::size_t>(ended)];
}

const char* verdict_name(Conversion::Verdict verdict) {
  constexpr const char* kNames[] = {"keep", "converted", "reverted", "fixed"};
  return kNames[static_cast<std::size_t>(verdict)];
}

class Solver::State {
 public:
  State(Device& device, ApplicationQueue& queue, SparseMatrix matrix, const SolverOptions& options)
      : options_(options),
        matrix_(std::move(matrix)),
        kernels_(device, on_device(options.precision)),
        product_(kernels_, queue, matrix_, options),
        vectors_(kernels_, queue, static_cast<std::size_t>(matrix_.pattern.rows)),
        inputs_(kernels_, queue, static_cast<std::size_t>(matrix_.pattern.columns)),
        steps_(options) {}

  Status start();
  Status set_values(Span<const double> values);
  Result<SolveReport> solve(Span<const double> b, Span<double> x, const SolveOptions& options);
  Status multiply(Span<const double> x, Span<double> y, double products_to_come);
  const Product& product() const { return product_; }

 private:
  Status check_system(Span<const double> b, Span<const double> x, const SolveOptions& options);
  Status prepare(Span<const double> b, Span<const double> x, const SolveOptions& options);
  // From `x_`, with a right-hand side of this norm, while that of the residual is above
  // options.tolerance of it; the whole solve ends at `target` of it.
  Status iterate(const SolveOptions& options, double norm, double target, SolveReport& report);
  Status solve_once(Span<const double> b, Span<double> x, double norm, double target,
                    const SolveOptions& options, SolveReport& report);
  Status refine(Span<const double> b, Span<double> x, double norm, const SolveOptions& options,
                SolveReport& report);
  void subtract_product(Span<const double> b, Span<const double> x, std::vector<double>& rest);
  void finish(Span<const double> b, Span<const double> x, double norm, const SolveOptions& options,
              SolveReport& report);
  bool is_mixed() const { return options_.precision == Precision::mixed; }

  SolverOptions options_;
  SparseMatrix matrix_;
  DeviceKernels kernels_;
  Product product_;
  DeviceVectors vectors_;  // as long as there are rows
  DeviceVectors inputs_;   // as long as there are columns
  StepRace steps_;
  std::unique_ptr<Buffer> b_, x_, diagonal_;
  bool symmetric_ = false;  // known to be
  bool diagonal_known_ = false;
  double usual_iterations_ = 0;
  double solves_ = 0;
  MemoryFile memory_;
  double setup_seconds_ = 0;
};

Status Solver::State::start() {
  const Clock::time_point begin = Clock::now();
  Status status = check(matrix_.pattern);
  if (status.ok()) status = check_values(matrix_.pattern, matrix_.values, options_.precision);
  if (!status.ok()) return status;
  memory_.open(options_.memory_folder, kernels_.device().info(), kernels_.number_bytes(),
               matrix_.pattern);
  if (memory_.known()) {
    usual_iterations_ = memory_.memory().iterations;
    product_.remember(memory_.memory());
  }
  status = product_.start();
  setup_seconds_ = seconds_since(begin);
  return status;
}

Status Solver::State::set_values(Span<const double> values) {
  const Clock::time_point begin = Clock::now();
  Status status = check_values(matrix_.pattern, values, options_.precision);
  if (!status.ok()) return status;
  std::copy(values.begin(), values.end(), matrix_.values.begin());
  symmetric_ = false;
  diagonal_known_ = false;
  status = product_.values_changed();
  setup_seconds_ += seconds_since(begin);
  return status;
}

Status Solver::State::check_system(Span<const double> b, Span<const double> x,
                                   const SolveOptions& options) {
  const auto rows = static_cast<std::size_t>(matrix_.pattern.rows);
  if (!matrix_.pattern.square()) {
    return {StatusCode::invalid_argument,
            {"the matrix has ", matrix_.pattern.rows, " rows and ", matrix_.pattern.columns,
             " columns, expected as many; only products take it"}};
  }
  if (b.size() != rows || x.size() != rows) {
    return {StatusCode::invalid_argument,
            {"b has ", b.size(), " and x ", x.size(), " numbers, expected ", rows}};
  }
  Status status = check_options(options);
  const Precision precision = is_mixed() ? Precision::f64 : options_.precision;
  if (status.ok()) status = check_numbers(b, precision, "b");
  if (status.ok()) status = check_numbers(x, precision, "x");
  if (status.ok() && options.method == Method::cg && !symmetric_) {
    status = check_symmetric(matrix_);
    symmetric_ = status.ok();
  }
  return status;
}

Status Solver::State::prepare(Span<const double> b, Span<const double> x,
                              const SolveOptions& options) {
  vectors_.forget_failure();
  if (!b_) b_ = vectors_.allocate();
  if (!x_) x_ = vectors_.allocate();
  if (options.preconditioner == Preconditioner::jacobi && !diagonal_known_) {
    const auto reciprocals = reciprocal_diagonal(matrix_);
    if (!reciprocals.ok()) return reciprocals.status();
    Status status = check_numbers(*reciprocals, options_.precision, "reciprocals of the diagonal");
    if (!status.ok()) return status;
    if (!diagonal_) diagonal_ = vectors_.allocate();
    if (vectors_.status().ok()) vectors_.put(*reciprocals, *diagonal_);
    diagonal_known_ = vectors_.status().ok();
  }
  if (vectors_.status().ok()) vectors_.put(b, *b_);
  if (vectors_.status().ok()) vectors_.put(x, *x_);
  return vectors_.status();
}

Status Solver::State::iterate(const SolveOptions& options, double norm, double target,
                              SolveReport& report) {
  const double done = report.iterations;
  const ProgressForecast forecast(target * norm, options.max_iterations - done,
                                  std::max(0.0, usual_iterations_ - done),
                                  solves_reckoned_with(options.solves_to_come, solves_));
  const bool jacobi = options.preconditioner == Preconditioner::jacobi;
  Iterations iterations(vectors_, product_, jacobi ? diagonal_.get() : nullptr, options, norm,
                        forecast, steps_, report);
  switch (options.method) {
    case Method::cg: return iterations.cg(*b_, *x_);
    case Method::bicgstab: return iterations.bicgstab(*b_, *x_);
    case Method::gmres: return iterations.gmres(*b_, *x_);
  }
  return {StatusCode::internal, "no such method"};
}

void Solver::State::subtract_product(Span<const double> b, Span<const double> x,
                                     std::vector<double>& rest) {
  rest.resize(x.size());
  krylov::multiply(matrix_.pattern, matrix_.values, x, rest);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = b[i] - rest[i];
}

Status Solver::State::solve_once(Span<const double> b, Span<double> x, double norm, double target,
                                 const SolveOptions& options, SolveReport& report) {
  Status status = prepare(b, x, options);
  if (status.ok()) status = iterate(options, norm, target, report);
  if (!status.ok()) return status;
  vectors_.get(*x_, x);
  return vectors_.status();
}

// Iterative refinement: x += the solution, in single precision, of A d = b - A x.
Status Solver::State::refine(Span<const double> b, Span<double> x, double norm,
                             const SolveOptions& options, SolveReport& report) {
  std::vector<double> rest, correction(x.size()), kept;
  subtract_product(b, x, rest);
  double size = norm_of(rest);
  double reach = kCorrection;
  bool moves = true;
  for (;;) {
    report.residual = size / norm;
    if (report.residual <= options.tolerance) return ends(Ended::converged, "", report);
    if (report.iterations >= options.max_iterations)
      return ends(Ended::limit_reached, "the limit of iterations was reached", report);
    if (!moves && reach == kShortCorrection)
      return ends(Ended::stagnated, "corrections in single precision do not help any more", report);
    if (!moves) reach = kShortCorrection;  // where rounding has made the matrix indefinite
    for (double& number : rest) number /= size;
    std::fill(correction.begin(), correction.end(), 0.0);
    ScaledProgress progress{options, size / norm};
    SolveOptions single = options;
    const double target = options.tolerance / report.residual;
    single.tolerance = std::max(reach, 0.5 * target);
    single.user = &progress;
    if (options.progress != nullptr) single.progress = ScaledProgress::call;
    Status status = solve_once(rest, correction, 1, target, single, report);
    if (!status.ok()) return status;
    ++report.refinements;
    kept.assign(x.begin(), x.end());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += size * correction[i];
    subtract_product(b, x, rest);
    const double left = norm_of(rest);
    moves = left <= kLeastCorrection * size;
    if (left < size) {
      size = left;
    } else {
      std::copy(kept.begin(), kept.end(), x.begin());
      subtract_product(b, x, rest);
    }
  }
}

void Solver::State::finish(Span<const double> b, Span<const double> x, double norm,
                           const SolveOptions& options, SolveReport& report) {
  std::vector<double> rest(x.size());
  krylov::multiply(matrix_.pattern, matrix_.values, x, rest);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = b[i] - rest[i];
  report.true_residual = norm_of(rest) / norm;
  if (report.ended == Ended::converged && report.true_residual > kStagnated * options.tolerance) {
    report.ended = Ended::stagnated;
    report.reason =
        "the recurrence converged but the true residual did not: more precision or a better "
        "preconditioner is needed";
  }
  usual_iterations_ = report.iterations;
  ++solves_;
  if (report.iterations > 0) memory_.keep(product_.memory(report.iterations));
  report.memory = memory_.note();
}

Result<SolveReport> Solver::State::solve(Span<const double> b, Span<double> x,
                                         const SolveOptions& options) {
  Status status = check_system(b, x, options);
  if (!status.ok()) return status;
  SolveReport report;
  report.setup_seconds = setup_seconds_;
  setup_seconds_ = 0;
  const double norm = norm_of(b);
  if (norm == 0) {
    std::fill(x.begin(), x.end(), 0.0);
  } else {
    const Clock::time_point begin = Clock::now();
    const double tuned_before = product_.tuning_seconds();
    const double compiled_before = kernels_.compile_seconds();
    status = is_mixed() ? refine(b, x, norm, options, report)
                        : solve_once(b, x, norm, options.tolerance, options, report);
    if (!status.ok()) return status;
    report.solve_seconds = seconds_since(begin);
    report.tuning_seconds = std::max(product_.tuning_seconds() - tuned_before,
                                     kernels_.compile_seconds() - compiled_before);
    finish(b, x, norm, options, report);
  }
  report.chosen = product_.chosen(options.method == Method::cg && steps_.fused());
  report.csr_us = product_.csr_us();
  report.conversion = product_.conversion();
  return report;
}

Status Solver::State::multiply(Span<const double> x, Span<double> y, double products_to_come) {
  const auto rows = static_cast<std::size_t>(matrix_.pattern.rows);
  const auto columns = static_cast<std::size_t>(matrix_.pattern.columns);
  if (x.size() != columns || y.size() != rows) {
    return {
        StatusCode::invalid_argument,
        {"x has ", x.size(), " and y ", y.size(), " numbers, expected ", columns, " and ", rows}};
  }
  if (rows == 0) return {};
  if (columns == 0) return std::fill(y.begin(), y.end(), 0.0), Status();
  Status status = check_numbers(x, options_.precision, "x");
  if (!status.ok()) return status;
  inputs_.forget_failure();
  vectors_.forget_failure();
  const auto from = inputs_.allocate();
  const auto to = vectors_.allocate();
  if (!from || !to) return inputs_.status().ok() ? vectors_.status() : inputs_.status();
  inputs_.put(x, *from);
  if (!inputs_.status().ok()) return inputs_.status();
  status = product_.multiply(*from, *to);
  if (status.ok())
    status = product_.look_ahead({products_to_come, products_to_come, products_to_come});
  if (!status.ok()) return status;
  vectors_.get(*to, y);
  return vectors_.status();
}

Solver::Solver(std::unique_ptr<State> state) : state_(std::move(state)) {}
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;
Solver::~Solver() = default;

Result<Solver> Solver::make(Device& device, ApplicationQueue& queue, SparseMatrix matrix,
                            const SolverOptions& options) {
  auto state = std::make_unique<State>(device, queue, std::move(matrix), options);
  if (Status status = state->start(); !status.ok()) return status;
  return Solver(std::move(state));
}

Status Solver::set_values(Span<const double> values) { return state_->set_values(values); }

Result<SolveReport> Solver::solve(Span<const double> b, Span<double> x,
                                  const SolveOptions& options) {
  return state_->solve(b, x, options);
}

Status Solver::multiply(Span<const double> x, Span<double> y, double products_to_come) {
  return state_->multiply(x, y, products_to_come);
}

Chosen Solver::chosen() const { return state_->product().chosen(false); }
double Solver::csr_us() const { return state_->product().csr_us(); }
const Conversion& Solver::conversion() const { return state_->product().conversion(); }
double Solver::tuning_seconds() const { return state_->product().tuning_seconds(); }

}  // namespace idletune::krylov
