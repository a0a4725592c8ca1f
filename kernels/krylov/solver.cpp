#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <idletune/krylov.hpp>

#include "kernels/krylov/device_vectors.hpp"
#include "kernels/krylov/host_system.hpp"
#include "kernels/krylov/iterations.hpp"
#include "kernels/krylov/power_of_two.hpp"
#include "kernels/krylov/product.hpp"
#include "kernels/krylov/progress_forecast.hpp"
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

Precision on_device(Precision precision) {
  return precision == Precision::f64 ? Precision::f64 : Precision::f32;
}

template <class... Pieces>
[[gnu::always_inline]] inline Status refused(const char* form, const Pieces&... given) {
  return Status(StatusCode::invalid_argument, form, given...);
}

Status check_options(const SolverOptions& options) {
  const auto beyond = [](auto choice, auto last) {
    return static_cast<int>(choice) > static_cast<int>(last);
  };
  if (beyond(options.precision, Precision::mixed)) return refused("precision: no such one");
  if (beyond(options.choosing, Choosing::always)) return refused("choosing: no such one");
  if (beyond(options.steps, Steps::fused)) return refused("steps: no such ones");
  if (beyond(options.format, SparseFormat::sell)) return refused("format: no such one");
  return {};
}

Status check_options(const SolveOptions& options) {
  if (!(options.tolerance > 0) || std::isinf(options.tolerance))
    return refused("tolerance: expected a finite number above 0");
  if (options.method == Method::gmres && (options.restart < 1 || options.restart > 1000))
    return refused("restart: %, expected 1 to 1000", options.restart);
  if (std::isnan(options.solves_to_come)) return refused("solves_to_come: expected a number");
  if (options.method > Method::gmres) return refused("method: no such one");
  if (options.preconditioner > Preconditioner::jacobi)
    return refused("preconditioner: no such one");
  return {};
}

bool share_memory(Span<const double> b, Span<const double> x) {
  const std::less<const double*> before;
  return before(b.begin(), x.end()) && before(x.begin(), b.end());
}

Status moved_from() { return refused("the solver was moved from"); }

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
        steps_{StepChoice(options), StepChoice(options)} {}

  Status start();
  Status set_values(Span<const double> values);
  Result<SolveReport> solve(Span<const double> b, Span<double> x, const SolveOptions& options);
  Status multiply(Span<const double> x, Span<double> y, double products_to_come);
  const Product& product() const { return product_; }

 private:
  Status check_system(Span<const double> b, Span<const double> x, const SolveOptions& options);
  Status upload_values();
  Status prepare(const HostSystem& system, int exponent, const SolveOptions& options);
  // Corrects x once, until what is left of b - A x is below options.tolerance of `norm`; the whole
  // solve ends at `target` of it. The norm that was left.
  Result<double> correct(HostSystem& system, double norm, double target,
                         const SolveOptions& options, SolveReport& report);
  Status refine(HostSystem& system, const SolveOptions& options, SolveReport& report);
  Status iterate(HostSystem& system, const SolveOptions& options, SolveReport& report);
  bool distrust_steps(const SolveOptions& options) {
    return options.method == Method::cg && steps(options).distrust();
  }
  void finish(HostSystem& system, const SolveOptions& options, SolveReport& report);
  void note(std::uint32_t iterations);
  void account(double seconds);
  StepChoice& steps(const SolveOptions& options) {
    return steps_[static_cast<std::size_t>(options.preconditioner)];
  }
  Result<SolveReport> solved(Span<const double> b, Span<double> x, const SolveOptions& options);
  Status multiplied(Span<const double> x, Span<double> y, double products_to_come);
  bool is_mixed() const { return options_.precision == Precision::mixed; }

  SolverOptions options_;
  SparseMatrix matrix_;
  DeviceKernels kernels_;
  Product product_;
  DeviceVectors vectors_;  // as long as there are rows
  DeviceVectors inputs_;   // as long as there are columns
  StepChoice steps_[2];    // by Preconditioner: their steps are different ones
  std::unique_ptr<Buffer> b_, x_, diagonal_;
  bool uploaded_ = true;    // the device has the matrix's numbers
  bool symmetric_ = false;  // known to be
  bool diagonal_known_ = false;
  double usual_iterations_ = 0;
  double solves_ = 0;
  StructureMemory memory_;
  double setup_seconds_ = 0;
  double booked_us_[3] = {0, 0, 0};  // account()
};

Status Solver::State::start() {
  const Stopwatch watch(kernels_.device());
  Status status = check_values(matrix_.pattern, matrix_.values, options_.precision);
  if (!status.ok()) return status;
  memory_.open(options_, kernels_.device().info(), kernels_.number_bytes(), matrix_.pattern);
  product_.open_notes(options_.notes, memory_.key());
  if (memory_.known()) {
    usual_iterations_ = memory_.memory().iterations;
    product_.remember(memory_.memory());
  }
  status = product_.start();
  product_.rest();  // the first product may be long in coming
  setup_seconds_ = watch.seconds();
  return status;
}

Status Solver::State::set_values(Span<const double> values) {
  const Stopwatch watch(kernels_.device());
  Status status = check_values(matrix_.pattern, values, options_.precision);
  if (!status.ok()) return status;
  std::vector<double> others(values.begin(), values.end());
  std::swap(matrix_.values, others);
  uploaded_ = false;
  status = upload_values();
  if (!status.ok()) std::swap(matrix_.values, others);
  symmetric_ = symmetric_ && !status.ok();
  setup_seconds_ += watch.seconds();
  return status;
}

// Where an upload has failed, the next one mends it.
Status Solver::State::upload_values() {
  if (uploaded_) return {};
  diagonal_known_ = false;
  Status status = product_.values_changed();
  uploaded_ = status.ok();
  return status;
}

Status Solver::State::check_system(Span<const double> b, Span<const double> x,
                                   const SolveOptions& options) {
  const auto rows = static_cast<std::size_t>(matrix_.pattern.rows);
  if (!matrix_.pattern.square()) {
    return {StatusCode::invalid_argument,
            "the matrix has % rows and % columns, expected as many; only products take it",
            matrix_.pattern.rows, matrix_.pattern.columns};
  }
  if (b.size() != rows || x.size() != rows) {
    return {StatusCode::invalid_argument, "b has % and x % numbers, expected %", b.size(), x.size(),
            rows};
  }
  if (share_memory(b, x)) return refused("b and x share memory, expected an array of each");
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

// On the device: 2^exponent (b - A x), and zeros that become the correction.
Status Solver::State::prepare(const HostSystem& system, int exponent, const SolveOptions& options) {
  vectors_.forget_failure();
  if (Status status = upload_values(); !status.ok()) return status;
  if (!b_) b_ = vectors_.allocate();
  if (!x_) x_ = vectors_.allocate();
  if (options.preconditioner == Preconditioner::jacobi && !diagonal_known_) {
    const auto reciprocals = reciprocal_diagonal(matrix_, PowerOfTwo(product_.exponent()));
    if (!reciprocals.ok()) return reciprocals.status();
    Status status = check_numbers(*reciprocals, options_.precision, "reciprocals of the diagonal");
    if (!status.ok()) return status;
    if (!diagonal_) diagonal_ = vectors_.allocate();
    if (vectors_.status().ok()) vectors_.put(*reciprocals, *diagonal_);
    diagonal_known_ = vectors_.status().ok();
  }
  if (vectors_.status().ok()) vectors_.put(system.rest(), *b_, PowerOfTwo(exponent));
  if (vectors_.status().ok()) vectors_.clear(*x_);
  return vectors_.status();
}

Result<double> Solver::State::correct(HostSystem& system, double norm, double target,
                                      const SolveOptions& options, SolveReport& report) {
  const int exponent = exponent_above(system.rest());
  Status status = prepare(system, -exponent, options);
  if (!status.ok()) return status;
  const double norm_there = PowerOfTwo(-exponent).times(norm);
  const double done = report.iterations;
  const ProgressForecast forecast(target * norm_there, options.max_iterations - done,
                                  std::max(0.0, usual_iterations_ - done),
                                  solves_reckoned_with(options.solves_to_come, solves_));
  const bool jacobi = options.preconditioner == Preconditioner::jacobi;
  Iterations iterations(vectors_, product_, jacobi ? diagonal_.get() : nullptr, options, norm_there,
                        forecast, steps(options), report);
  switch (options.method) {
    case Method::cg: status = iterations.cg(*b_, *x_); break;
    case Method::bicgstab: status = iterations.bicgstab(*b_, *x_); break;
    case Method::gmres: status = iterations.gmres(*b_, *x_); break;
  }
  if (status.ok()) vectors_.get(*x_, system.correction());
  if (!vectors_.status().ok()) return vectors_.status();
  return system.correct(exponent + product_.exponent());
}

// Iterative refinement: x += the solution, in single precision, of A d = b - A x.
Status Solver::State::refine(HostSystem& system, const SolveOptions& options, SolveReport& report) {
  double reach = kCorrection;
  bool moves = true;
  for (;;) {
    report.residual = system.residual();
    if (report.residual <= options.tolerance) return ends(Ended::converged, "", report);
    if (report.iterations >= options.max_iterations)
      return ends(Ended::limit_reached, "the limit of iterations was reached", report);
    if (!moves && reach == kShortCorrection && !distrust_steps(options))
      return ends(Ended::stagnated, "corrections in single precision do not help any more", report);
    if (!moves) reach = kShortCorrection;  // where rounding has made the matrix indefinite
    ScaledProgress progress{options, report.residual};
    SolveOptions single = options;
    const double target = options.tolerance / report.residual;
    single.tolerance = std::max(reach, 0.5 * target);
    single.user = &progress;
    if (options.progress != nullptr) single.progress = ScaledProgress::call;
    const double norm = system.norm();
    const Result<double> left = correct(system, norm, target, single, report);
    if (!left.ok() && distrust_steps(options)) continue;
    if (!left.ok()) return left.status();
    ++report.refinements;
    moves = *left <= kLeastCorrection * norm;
  }
}

Status Solver::State::iterate(HostSystem& system, const SolveOptions& options,
                              SolveReport& report) {
  report.residual = system.residual();
  if (report.residual <= options.tolerance) {
    if (options.progress != nullptr) options.progress(options.user, 0, report.residual);
    return {};
  }
  if (is_mixed()) return refine(system, options, report);
  const double before = system.norm();
  // One correction cannot bring down what is left by more, and far below squares leave the range.
  SolveOptions reachable = options;
  const double fall = vectors_.roundoff() * vectors_.roundoff();
  reachable.tolerance = std::max(options.tolerance, fall * report.residual);
  const double norm = system.norm_of_b();
  Result<double> left = correct(system, norm, reachable.tolerance, reachable, report);
  // More than rounding leaves, and the iterations do not know: a kernel was wrong, or failed.
  const double rounding = std::sqrt(vectors_.roundoff());
  const double expected = std::max(kStagnated * options.tolerance * norm,
                                   options.tolerance < rounding / 2 ? rounding * before : 0);
  const bool spoilt = !left.ok() || (report.ended != Ended::limit_reached && *left > expected);
  if (spoilt && distrust_steps(options)) {
    report.ended = Ended::converged;
    report.reason.clear();
    left = correct(system, norm, reachable.tolerance, reachable, report);
  }
  if (!left.ok()) return left.status();
  if (*left < before) return {};
  if (std::isinf(*left)) {
    report.ended = Ended::overflow;
    report.reason = "the x that was found is beyond the range of double precision";
  }
  if (!report.reason.empty()) report.reason += "; ";
  report.reason += "nothing nearer was found";
  return {};
}

// The verdict is that of the x which the caller has now.
void Solver::State::finish(HostSystem& system, const SolveOptions& options, SolveReport& report) {
  system.settle();
  report.true_residual = system.residual();
  if (report.ended == Ended::converged &&
      !(report.true_residual <= kStagnated * options.tolerance)) {
    report.ended = Ended::stagnated;
    report.reason =
        "the recurrence converged but the true residual did not: more precision or a better "
        "preconditioner is needed";
  }
  usual_iterations_ = report.iterations;
  ++solves_;
  if (report.iterations > 0) note(report.iterations);
  report.memory = memory_.note();
  std::string refused;
  const KernelMarks marks = product_.marks();
  for (const auto& [kernel, mark] : marks.all()) {
    if (mark != KernelMark::running) append(refused, " %", name_of(kernel));
  }
  if (!refused.empty()) append(report.memory, "; not run again here:%", refused);
}

void Solver::State::note(std::uint32_t iterations) {
  if (memory_.keep(product_.choice().memory(iterations))) product_.refresh_marks();
}

// What was saved pays for the solver's own trials, and for nobody else's.
void Solver::State::account(double seconds) {
  if (options_.notes == nullptr) return;
  const double behind_us[] = {product_.choice().behind_us(), steps_[0].behind_us(),
                              steps_[1].behind_us()};
  double lost_us = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    lost_us += std::max(0.0, behind_us[i] - booked_us_[i]);
    booked_us_[i] = std::max(booked_us_[i], behind_us[i]);
  }
  options_.notes->account(std::chrono::round<Nanoseconds>(Microseconds(1e6 * seconds)),
                          std::chrono::round<Nanoseconds>(Microseconds(lost_us)));
}

// However it ends, nothing stays announced.
Result<SolveReport> Solver::State::solve(Span<const double> b, Span<double> x,
                                         const SolveOptions& options) {
  Result<SolveReport> report = solved(b, x, options);
  product_.rest();
  return report;
}

Result<SolveReport> Solver::State::solved(Span<const double> b, Span<double> x,
                                          const SolveOptions& options) {
  Status status = check_system(b, x, options);
  if (!status.ok()) return status;
  SolveReport report;
  report.setup_seconds = setup_seconds_;
  setup_seconds_ = 0;
  if (norm_of(b) == 0) {
    std::fill(x.begin(), x.end(), 0.0);
  } else {
    const Stopwatch watch(kernels_.device());
    const double tuned_before = product_.tuning_seconds();
    const double compiled_before = kernels_.compile_seconds();
    steps(options).begin_solve();
    if (options.method == Method::cg) product_.take(steps(options).converted());
    HostSystem system(matrix_, b, x);
    status = system.begin();
    if (status.ok()) status = iterate(system, options, report);
    product_.take(true);  // whichever format's turn it was
    report.solve_seconds = watch.seconds();
    account(report.solve_seconds);
    if (!status.ok()) return status;
    report.tuning_seconds = std::max(product_.tuning_seconds() - tuned_before,
                                     kernels_.compile_seconds() - compiled_before);
    finish(system, options, report);
  }
  report.chosen = product_.chosen(options.method == Method::cg && steps(options).fused());
  report.csr_us = product_.choice().csr_us();
  report.conversion = product_.choice().conversion();
  return report;
}

// Of the last product all is noted, wherever it was made.
Status Solver::State::multiply(Span<const double> x, Span<double> y, double products_to_come) {
  const Status status = multiplied(x, y, products_to_come);
  if (status.ok() && products_to_come <= 0) note(memory_.memory().iterations);
  if (!status.ok() || products_to_come <= 0) product_.rest();
  return status;
}

Status Solver::State::multiplied(Span<const double> x, Span<double> y, double products_to_come) {
  const auto rows = static_cast<std::size_t>(matrix_.pattern.rows);
  const auto columns = static_cast<std::size_t>(matrix_.pattern.columns);
  if (x.size() != columns || y.size() != rows) {
    return {StatusCode::invalid_argument,
            "x has % and y % numbers, expected % and %",
            x.size(),
            y.size(),
            columns,
            rows};
  }
  if (std::isnan(products_to_come)) return refused("products_to_come: expected a number");
  products_to_come = std::min(products_to_come, kForEver);
  if (rows == 0) return {};
  if (columns == 0) return std::fill(y.begin(), y.end(), 0.0), Status();
  Status status = check_numbers(x, options_.precision, "x");
  if (status.ok()) status = upload_values();
  if (!status.ok()) return status;
  const Fit fit = fitting(x, kernels_.number_bytes());
  // Rare, and no scale of the device's numbers fits all products.
  if (fit.far_apart || product_.far_apart()) {
    const std::vector<double> own(x.begin(), x.end());  // y may take its place
    return krylov::multiply(matrix_.pattern, matrix_.values, own, y), Status();
  }
  inputs_.forget_failure();
  vectors_.forget_failure();
  const auto from = inputs_.allocate();
  const auto to = vectors_.allocate();
  if (!from || !to) return inputs_.status().ok() ? vectors_.status() : inputs_.status();
  inputs_.put(x, *from, PowerOfTwo(fit.exponent));
  if (!inputs_.status().ok()) return inputs_.status();
  const Stopwatch watch(kernels_.device());
  status = product_.multiply(*from, *to);
  if (status.ok())
    status = product_.look_ahead({products_to_come, products_to_come, products_to_come});
  account(watch.seconds());
  if (!status.ok()) return status;
  vectors_.get(*to, y, PowerOfTwo(-fit.exponent - product_.exponent()));
  return vectors_.status();
}

Solver::Solver(std::unique_ptr<State> state) : state_(std::move(state)) {}
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;
Solver::~Solver() = default;

Result<Solver> Solver::make(Device& device, ApplicationQueue& queue, SparseMatrix matrix,
                            const SolverOptions& options) {
  Status status = check_options(options);
  if (status.ok()) status = check(matrix.pattern);
  if (!status.ok()) return status;
  auto state = std::make_unique<State>(device, queue, std::move(matrix), options);
  status = state->start();
  if (!status.ok()) return status;
  return Solver(std::move(state));
}

Status Solver::set_values(Span<const double> values) {
  return state_ ? state_->set_values(values) : moved_from();
}

Result<SolveReport> Solver::solve(Span<const double> b, Span<double> x,
                                  const SolveOptions& options) {
  return state_ ? state_->solve(b, x, options) : Result<SolveReport>(moved_from());
}

Status Solver::multiply(Span<const double> x, Span<double> y, double products_to_come) {
  return state_ ? state_->multiply(x, y, products_to_come) : moved_from();
}

Chosen Solver::chosen() const { return state_->product().chosen(false); }
double Solver::csr_us() const { return state_->product().choice().csr_us(); }
const Conversion& Solver::conversion() const { return state_->product().choice().conversion(); }
double Solver::tuning_seconds() const { return state_->product().tuning_seconds(); }

}  // namespace idletune::krylov
